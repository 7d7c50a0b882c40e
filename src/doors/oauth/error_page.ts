import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { html } from '#doors/markup.ts'
import { page, page_headers } from './page.ts'

/** Shown when the redirect URI is not verified, so the client must not receive the error. */
export function errorPage(ctx: KoaContextWithOIDC, out: ErrorOut): void {
  for (const [name, value] of Object.entries(page_headers)) ctx.set(name, String(value))
  ctx.body = errorText(out.error, out.error_description ?? '')
}

export function errorText(error: string, description: string): string {
  return page(
    'Authorization failed',
    'live',
    html`<h1>Authorization failed</h1>
<p>The app sent an invalid request. It was not given access. Go back to the app and try
again.</p>
<p class="soft">${error}${description === '' ? '' : `: ${description}`}</p>`,
  )
}
