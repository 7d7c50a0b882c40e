import { html, type Markup } from '#doors/markup.ts'

/** The redirect target: a website, or an app with a custom scheme. A step-up has none. */
export type Redirect =
  | { kind: 'site'; host: string }
  | { kind: 'app'; scheme: string }
  | { kind: 'none' }

export function redirectOf(uri: string): Redirect {
  const { host, protocol } = new URL(uri)
  if (/^https?:$/.test(protocol)) return { kind: 'site', host }
  return { kind: 'app', scheme: protocol.slice(0, -1) }
}

/** A custom scheme is not shown as a host: nobody owns a scheme, so its host proves nothing. */
export function redirectText(redirect: Redirect): Markup {
  if (redirect.kind === 'site') return html`<span class="host">${redirect.host}</span>`
  if (redirect.kind === 'none') return html`the app`
  return html`<span class="host">an app on this device</span> (${redirect.scheme})`
}
