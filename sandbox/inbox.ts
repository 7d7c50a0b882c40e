import { Problem } from '#contract/problem.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'

type Preview = { html: string; expires_ms: number }

const PREVIEW_MS = 5 * 60_000
const PREVIEWS_MAX = 1_000

/** Emails are self-contained; only the operator's logo may be loaded. */
const PREVIEW_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src https:; frame-ancestors 'self'; " +
    'sandbox allow-popups allow-popups-to-escape-sandbox',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/** The caller's emails, newest first, whether sent or not, and each as a page to look at. */
export const sandboxInbox: Surface = (app, host) => {
  const previews = new Map<string, Preview>()
  app.get('/sandbox/v1/inbox', async (request) => {
    const { account_id } = await host.callerOf(request.headers.authorization)
    return { data: await host.inboxOf(account_id), next_cursor: null, has_more: false }
  })
  app.post('/sandbox/v1/inbox/:id/preview', async (request) => {
    const { account_id } = await host.callerOf(request.headers.authorization)
    const { id } = request.params as { id: string }
    const mail = (await host.inboxOf(account_id)).find((each) => each.id === id)
    if (mail === undefined) throw new Problem('not_found', 'No such email.')
    return { url: `/sandbox/v1/previews/${addPreview(host, previews, mail.html)}` }
  })
  // A frame cannot send a bearer, so its URL is the credential: unguessable and short-lived.
  app.get('/sandbox/v1/previews/:token', async (request, reply) => {
    const preview = previews.get((request.params as { token: string }).token)
    if (preview === undefined || preview.expires_ms <= host.clock.monotonic()) {
      throw new Problem('not_found', 'No such preview.')
    }
    return reply.headers(PREVIEW_HEADERS).type('text/html; charset=utf-8').send(preview.html)
  })
}

function addPreview(host: SandboxHost, previews: Map<string, Preview>, html: string): string {
  const now_ms = host.clock.monotonic()
  for (const [token, { expires_ms }] of previews) {
    if (expires_ms <= now_ms || previews.size >= PREVIEWS_MAX) previews.delete(token)
  }
  const token = Buffer.from(host.random.bytes(24)).toString('base64url')
  previews.set(token, { html, expires_ms: now_ms + PREVIEW_MS })
  return token
}
