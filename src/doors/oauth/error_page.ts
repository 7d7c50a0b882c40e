import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { html } from '#doors/markup.ts'
import { page, page_headers } from './page.ts'

/** For what cannot be told to the client, because it is not known to be the client's address. */
export function errorPage(ctx: KoaContextWithOIDC, out: ErrorOut): void {
  for (const [name, value] of Object.entries(page_headers)) ctx.set(name, String(value))
  ctx.body = errorText(out.error, out.error_description ?? '')
}

export function errorText(error: string, description: string): string {
  return page(
    'This did not work',
    'live',
    html`<h1>This did not work</h1>
<p>The app sent you here with a request that cannot be served. Nothing was granted. Go back to the
app and start again.</p>
<p class="soft">${error}${description === '' ? '' : `: ${description}`}</p>`,
  )
}
