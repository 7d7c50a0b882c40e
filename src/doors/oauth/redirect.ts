import { html, type Markup } from '#doors/markup.ts'

/** Where the browser goes when the page is done: a website, or an app by a scheme of its own. */
export type Redirect = { kind: 'site'; host: string } | { kind: 'app'; scheme: string }

export function redirectOf(uri: string): Redirect {
  const { host, protocol } = new URL(uri)
  if (/^https?:$/.test(protocol)) return { kind: 'site', host }
  return { kind: 'app', scheme: protocol.slice(0, -1) }
}

/** An app's link is never shown like a host: nobody owns a scheme, and its host says nothing. */
export function redirectText(redirect: Redirect): Markup {
  if (redirect.kind === 'site') return html`<span class="host">${redirect.host}</span>`
  return html`<span class="host">an app on this device</span> (${redirect.scheme})`
}
