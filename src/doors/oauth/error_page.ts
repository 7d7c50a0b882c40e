import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { html } from '#doors/markup.ts'
import { page, page_headers } from './page.ts'

type Mode = 'sandbox' | 'live'

/** Shown when the redirect URI is not verified, so the client must not receive the error. */
export function errorPage(ctx: KoaContextWithOIDC, mode: Mode, out: ErrorOut): void {
  for (const [name, value] of Object.entries(page_headers)) ctx.set(name, String(value))
  ctx.body = errorText(mode, out)
}

type FailedRequest = {
  error: string
  error_description?: string | undefined
  /** True if the request was valid once, in this or another browser. */
  isExpired?: boolean
}

export function errorText(mode: Mode, failed: FailedRequest): string {
  const { error, error_description: description = '' } = failed
  const title = failed.isExpired === true ? 'This page has expired' : 'Authorization failed'
  return page(
    title,
    mode,
    html`<h1>${title}</h1>
<p>${adviceOf(failed)}</p>
<p class="soft">${error}${description === '' ? '' : `: ${description}`}</p>
<p><a href="/">Go to your account</a></p>`,
  )
}

/** Trying again helps only if the app's registration is known. */
const advice: Readonly<Record<string, string>> = {
  invalid_client: 'Florin doesn’t know it. Remove Florin from the app, then connect it again.',
  invalid_redirect_uri:
    'It asked to return to an address that it didn’t register. Remove Florin from the app, then ' +
    'connect it again.',
}

function adviceOf({ error, isExpired = false }: FailedRequest): string {
  // People also come here by going back after they allowed the app, so this doesn't say it failed.
  if (isExpired) {
    return (
      'You answered this request already, or it has expired or belongs to another browser. If ' +
      'the app isn’t connected, go back to it and try again.'
    )
  }
  const reason = advice[error] ?? 'It sent an invalid request. Go back to the app and try again.'
  return `The app was not given access. ${reason}`
}
