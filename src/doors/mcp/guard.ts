import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { Settings } from '#settings/settings.ts'
import { INVALID_REQUEST, KNOWN_VERSIONS, ProtocolError } from './protocol.ts'

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/**
 * Protects against DNS rebinding: a web page must not reach a server on the user's machine. The
 * Host must be ours, and so must the Origin if a browser sends one.
 */
export function requireOwnOrigin(settings: Settings, request: FastifyRequest): void {
  const { host } = request
  if (!isOurHost(settings, host)) {
    throw new Problem('policy_denied', 'The Host header does not match this server.')
  }
  const { origin } = request.headers
  if (origin !== undefined && !isAllowedOrigin(settings, origin)) {
    throw new Problem('policy_denied', 'Requests from this origin are not allowed.')
  }
}

function isOurHost({ public_url }: Settings, host: string): boolean {
  return LOOPBACK.test(host) || public_url.endsWith(`://${host}`) || isSameHost(public_url, host)
}

const HOST = /^[\w.-]+(:\d+)?$/

/** Some clients and proxies send capital letters or the default port. */
function isSameHost(public_url: string, host: string): boolean {
  const { protocol, origin } = new URL(public_url)
  const sent = `${protocol}//${host}`
  return HOST.test(host) && URL.canParse(sent) && new URL(sent).origin === origin
}

function isAllowedOrigin({ public_url, mcp_origins }: Settings, origin: string): boolean {
  if (mcp_origins.includes('*') || mcp_origins.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  const { host, origin: folded } = new URL(origin)
  return folded === new URL(public_url).origin || LOOPBACK.test(host)
}

/** True if the Accept header names this media type, in any case (RFC 9110, section 8.3.1). */
export const accepts = ({ headers }: FastifyRequest, type: string): boolean =>
  (headers.accept ?? '').toLowerCase().includes(type)

/** A response can be JSON or an event stream, so a client must accept both. */
export function requireAccept(request: FastifyRequest): void {
  if (request.headers.accept === undefined || accepts(request, '*/*')) return
  if (accepts(request, 'application/json') && accepts(request, 'text/event-stream')) return
  throw new Problem(
    'invalid_request',
    'Send Accept: application/json, text/event-stream. The response can be either.',
    { status: 406 },
  )
}

export function requireJsonType({ headers }: FastifyRequest): void {
  const [type] = (headers['content-type'] ?? '').split(';')
  if (type?.trim().toLowerCase() === 'application/json') return
  throw new Problem('unsupported_media_type', 'Send the message as application/json.')
}

export function requireKnownVersion({ headers }: FastifyRequest): void {
  const version = headers['mcp-protocol-version']
  if (version === undefined || KNOWN_VERSIONS.includes(String(version))) return
  const known = KNOWN_VERSIONS.join(', ')
  throw new ProtocolError(
    INVALID_REQUEST,
    `MCP-Protocol-Version ${version} is not supported. Supported: ${known}.`,
    400,
  )
}

const EXPOSED = 'WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version, Request-Id, Retry-After'
const TAKEN = 'Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version'

/** Set only after the origin was accepted. Browsers never send a bearer on their own. */
export function allowOrigin(reply: FastifyReply, origin: string | undefined): void {
  if (origin === undefined) return
  reply
    .header('Access-Control-Allow-Origin', origin)
    .header('Access-Control-Expose-Headers', EXPOSED)
    .header('Vary', 'Origin')
}

export function preflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header('Access-Control-Allow-Methods', 'POST, DELETE, OPTIONS')
    .header('Access-Control-Allow-Headers', `${TAKEN}, Last-Event-ID`)
    .header('Access-Control-Max-Age', '3600')
    .send()
}
