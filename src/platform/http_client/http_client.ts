import './builtin_fetch.ts'

import { once } from 'node:events'
import { connect as connectTcp, isIP, isIPv4, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client } from 'undici'
import { assert } from '#kernel/assert.ts'
import {
  default_ports,
  EgressFailed,
  hostOf,
  type PortRules,
  portOf,
  requireAllowedUrl,
  type UrlRules,
} from './address_rules.ts'
import { Deadline } from './deadline.ts'
import { dnsLookup, type Lookup, requirePublicName, resolvePublicAddresses } from './host_names.ts'
import {
  type KeptConnection,
  type KeptConnections,
  keptConnections,
  PER_ORIGIN_MAX,
} from './kept_connections.ts'
import { originTurns } from './origin_turns.ts'
import { type HttpResponse, ResponseCut, readResponse } from './response_reader.ts'

export { EgressFailed, type EgressReason, EgressRefused } from './address_rules.ts'
export type { HttpResponse } from './response_reader.ts'

/**
 * Calls URLs that customers configure. A name is resolved once, all its addresses are checked, and
 * the socket connects to a checked address, so DNS rebinding is impossible. Redirects are returned,
 * bodies are bytes, and one deadline covers everything from the lookup to the last byte.
 */
export type HttpClient = {
  /**
   * Refuses a URL that is not allowed or whose name resolves to a non-public address. A name that
   * cannot be resolved now is accepted: every request checks it again.
   */
  requirePublicUrl(url: string): Promise<void>
  send(request: OutgoingRequest): Promise<HttpResponse>
}

export type OutgoingRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly timeout_ms: number
  readonly response_bytes_max: number
  /**
   * Reuses a kept connection and keeps its own. If the kept connection turns out to be closed, the
   * request is sent again, so set it only for requests that may arrive twice.
   */
  readonly reuse_connection?: boolean
  /** Ends the request like a timeout. */
  readonly signal?: AbortSignal
}

/** Opens a TCP connection to exactly this address. */
export type Connect = (target: { readonly address: string; readonly port: number }) => Socket

export type HttpClientOptions = {
  readonly lookup?: Lookup
  readonly connect?: Connect
  readonly allow_loopback_http: boolean
  readonly ports?: PortRules
}

/** A name may have thousands of addresses: all are checked, but only this many are tried. */
const ADDRESSES_TRIED_MAX = 4

/** Headers that the client sets itself: they define the target and the framing. */
const client_headers = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
])

const connectDirectly: Connect = ({ address, port }) => connectTcp(port, address)

export function makeHttpClient(options: HttpClientOptions): HttpClient {
  const { lookup = dnsLookup(), connect = connectDirectly, ports = default_ports } = options
  const rules = { allow_loopback_http: options.allow_loopback_http, ports }

  const kept = keptConnections()
  const turns = originTurns(PER_ORIGIN_MAX)
  const requireAllowed = makeUrlChecker(rules)

  const open = async ({ target, request, deadline }: OutgoingCall): Promise<KeptConnection> => {
    const { url } = target
    const { timeout_ms } = request
    const { signal } = deadline
    const addresses = await resolvePublicAddresses(url, lookup, signal)
    const tcp = await openTcp(addresses, portOf(url), { timeout_ms, connect, signal })
    const socket = url.protocol === 'https:' ? await openTls(tcp, url, signal) : tcp
    return { socket, client: clientOver(socket, target, request) }
  }

  const exchangeAnew = async (call: OutgoingCall): Promise<HttpResponse> =>
    exchange(await open(call), call, kept)

  const exchangeWithRetry = async (call: OutgoingCall): Promise<HttpResponse> => {
    const old = kept.take(call.target.origin)
    try {
      if (old !== undefined) return await exchange(old, call, kept)
    } catch (error) {
      if (!isStale(error) || call.deadline.isOver) throw error
    }
    return exchangeAnew(call)
  }

  const exchangeInTurn = async (call: OutgoingCall): Promise<HttpResponse> => {
    const { origin } = call.target
    await turns.take(origin)
    try {
      return await exchangeWithRetry(call)
    } finally {
      turns.end(origin)
    }
  }

  const send = async (request: OutgoingRequest): Promise<HttpResponse> => {
    const target = requireAllowed(request.url)
    const headers = requestHeaders(request.headers)
    const deadline = new Deadline(request.timeout_ms, request.signal)
    try {
      const call = { target, request, headers, deadline }
      return await (request.reuse_connection ? exchangeInTurn : exchangeAnew)(call)
    } catch (error) {
      if (!deadline.isOver) throw error
      throw new EgressFailed('timeout', 'There was no complete response in time.', { cause: error })
    } finally {
      deadline.cancel()
    }
  }

  return {
    requirePublicUrl: async (text) => requirePublicName(requireAllowed(text).url, lookup),
    send,
  }
}

/** A URL that was checked, and the parts of it that each request needs. */
type Target = { readonly url: URL; readonly origin: string; readonly path: string }

const URLS_REMEMBERED_MAX = 1_000

/**
 * Checks each URL once: the rules depend only on its text, and webhook endpoints are called again
 * and again: 3 % of a delivery (`npm run bench -- webhooks`).
 */
function makeUrlChecker(rules: UrlRules): (text: string) => Target {
  const known = new Map<string, Target>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const url = requireAllowedUrl(text, rules)
    if (known.size >= URLS_REMEMBERED_MAX) known.clear()
    // A URL computes its parts at every access.
    const target = { url, origin: url.origin, path: `${url.pathname}${url.search}` }
    known.set(text, target)
    return target
  }
}

/**
 * Tries the checked addresses in turn, IPv4 first because IPv6 is often misconfigured. Each gets an
 * equal share of the time, so one dead address doesn't use up the deadline.
 */
async function openTcp(
  addresses: readonly string[],
  port: number,
  { connect, signal, timeout_ms }: { connect: Connect; signal: AbortSignal; timeout_ms: number },
): Promise<Socket> {
  const tried = addresses
    .toSorted((a, b) => Number(isIPv4(b)) - Number(isIPv4(a)))
    .slice(0, ADDRESSES_TRIED_MAX)
  const share_ms = Math.ceil(timeout_ms / tried.length)
  let cause: unknown
  for (const address of tried) {
    const socket = connect({ address, port })
    const timer = setTimeout(() => socket.destroy(new Error('used up its share')), share_ms)
    try {
      return await waitForOpen(socket, 'connect', signal)
    } catch (error) {
      cause = error
      if (signal.aborted) break
    } finally {
      clearTimeout(timer)
    }
  }
  throw new EgressFailed('connect', 'The connection could not be opened.', { cause })
}

/** The certificate must match the host name. An IP address has no server name to send. */
async function openTls(tcp: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = hostOf(url)
  const socket = connectTls({
    socket: tcp,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  try {
    return await waitForOpen(socket, 'secureConnect', signal)
  } catch (cause) {
    tcp.destroy()
    if (codeOf(cause) === 'ECONNRESET') throw closedEarly(cause)
    throw new EgressFailed('tls', 'No trusted TLS connection could be made.', { cause })
  }
}

/** Resolves when the socket is open; destroys it if it fails to open. */
async function waitForOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Socket> {
  // An error without a listener would end the process.
  socket.on('error', () => undefined)
  try {
    await once(socket, event, { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

type OutgoingCall = {
  readonly target: Target
  readonly request: OutgoingRequest
  readonly headers: Record<string, string>
  readonly deadline: Deadline
}

/** Keeps the connection if the response was read completely and the request allows it. */
async function exchange(
  connection: KeptConnection,
  { target, request, headers, deadline }: OutgoingCall,
  kept: KeptConnections,
): Promise<HttpResponse> {
  const { client, socket } = connection
  // Ends the request at any stage. In the client's queue an abort signal has no effect.
  deadline.onOver(() => void client.destroy())
  let canKeep = false
  try {
    const response = await readResponse(
      client,
      {
        method: request.method,
        path: target.path,
        headers,
        body: request.body ?? null,
      },
      request.response_bytes_max,
    )
    canKeep = response.body.length < request.response_bytes_max && request.reuse_connection === true
    return response
  } catch (error) {
    throw failureOf(error)
  } finally {
    deadline.onOver(undefined)
    if (canKeep) kept.keep(target.origin, connection)
    else {
      socket.destroy()
      await client.destroy()
    }
  }
}

/** Shorter than the idle timeout of common servers, so mostly we close idle connections. */
const IDLE_MS = 4_000

/** A client for one socket. It never reconnects, because a new connection would be unchecked. */
function clientOver(socket: Socket, { origin }: Target, request: OutgoingRequest): Client {
  const { timeout_ms, reuse_connection = false } = request
  let isUsed = false
  return new Client(origin, {
    // With pipelining 0 the client sends Connection: close.
    pipelining: reuse_connection ? 1 : 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: timeout_ms,
    bodyTimeout: timeout_ms,
    connect: (_options, done) => {
      const isUsable = !isUsed && !socket.destroyed
      isUsed = true
      // The client does not start if the callback is called synchronously.
      queueMicrotask(() => (isUsable ? done(null, socket) : done(closedEarly(), null)))
    },
  })
}

function requestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = { 'accept-encoding': 'identity' }
  for (const given in headers) {
    const name = given.toLowerCase()
    assert(!client_headers.has(name), `the client sets ${name} itself`)
    lower[name] = headers[given] ?? ''
  }
  return lower
}

/** A kept connection that the server had closed: nothing shows that it got the request. */
const isStale = (error: unknown): boolean =>
  error instanceof EgressFailed && error.reason === 'reset' && !(error.cause instanceof ResponseCut)

function failureOf(cause: unknown): EgressFailed {
  if (cause instanceof EgressFailed) return cause
  const code = codeOf(cause instanceof ResponseCut ? cause.cause : cause)
  // A body cut off between chunks has no error code, only this message.
  const isCut = code.endsWith('LENGTH_MISMATCH') || String(cause).includes('Invalid EOF state')
  if (isCut || /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return closedEarly(cause)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return new EgressFailed('tls', 'The TLS connection broke down.', { cause })
  }
  if (code === 'ETIMEDOUT' || code.endsWith('_TIMEOUT')) {
    return new EgressFailed('timeout', 'There was no complete response in time.', { cause })
  }
  return new EgressFailed('protocol', 'The response was not valid HTTP.', { cause })
}

function closedEarly(cause?: unknown): EgressFailed {
  return new EgressFailed('reset', 'The connection was closed before the complete response.', {
    cause,
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
