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
import { checkedAddressesOf, dnsLookup, type Lookup, requirePublicName } from './host_names.ts'
import { type KeptConnection, type KeptConnections, keptConnections } from './kept_connections.ts'
import { answerTo, type HttpResponse } from './response_reader.ts'

export { EgressFailed, type EgressReason, EgressRefused } from './address_rules.ts'
export type { HttpResponse } from './response_reader.ts'

/**
 * The only way out over HTTP. A name is resolved once, every address it has is checked, and the
 * socket is opened to a checked address: between the check and the call there is no second lookup
 * that could answer differently. Redirects are answers, bodies are bytes, and one deadline covers
 * everything from the lookup to the last byte.
 */
export type HttpClient = {
  /**
   * Refuses an address that may never be called, and one whose name leads inward at this moment. A
   * name that cannot be resolved just now passes: it is judged again whenever something is sent.
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
   * May go over a connection that was kept after an earlier answer, and keeps its own. Such a
   * connection may turn out to be closed, and then the request is sent once more: only for what
   * may arrive twice.
   */
  readonly reuse_connection?: boolean
  /** Ends it before its time, as if it had run out. */
  readonly signal?: AbortSignal
}

/** A TCP connection started to exactly this address. */
export type Connect = (target: { readonly address: string; readonly port: number }) => Socket

export type HttpClientOptions = {
  readonly lookup?: Lookup
  readonly connect?: Connect
  readonly allow_loopback_http: boolean
  readonly ports?: PortRules
}

/** A name may list thousands of addresses; all are checked, but only so many are tried. */
const ADDRESSES_TRIED_MAX = 4

/** These say where the request goes or where it ends, which is not the caller's to say. */
const own_headers = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
])

const dial: Connect = ({ address, port }) => connectTcp(port, address)

export function makeHttpClient(options: HttpClientOptions): HttpClient {
  const { lookup = dnsLookup(), connect = dial, ports = default_ports } = options
  const rules = { allow_loopback_http: options.allow_loopback_http, ports }

  const kept = keptConnections()
  const allowed = allowedUrls(rules)

  const open = async (url: URL, { request, deadline }: Bounded): Promise<KeptConnection> => {
    const { timeout_ms } = request
    const { signal } = deadline
    const addresses = await checkedAddressesOf(url, lookup, signal)
    const tcp = await openTcp(addresses, portOf(url), { timeout_ms, connect, signal })
    const socket = url.protocol === 'https:' ? await openTls(tcp, url, signal) : tcp
    return { socket, client: clientOver(socket, url, request) }
  }

  const exchangeAnew = async (url: URL, bounded: Bounded): Promise<HttpResponse> => {
    const old = bounded.request.reuse_connection ? kept.take(url.origin) : undefined
    try {
      if (old !== undefined) return await exchange(old, url, bounded, kept)
    } catch (error) {
      const isStale = error instanceof EgressFailed && error.reason === 'reset'
      if (!isStale || bounded.deadline.isOver) throw error
    }
    return exchange(await open(url, bounded), url, bounded, kept)
  }

  const send = async (request: OutgoingRequest): Promise<HttpResponse> => {
    const url = allowed(request.url)
    const headers = requestHeaders(request.headers)
    const deadline = new Deadline(request.timeout_ms, request.signal)
    try {
      return await exchangeAnew(url, { request, headers, deadline })
    } catch (error) {
      if (!deadline.isOver) throw error
      throw new EgressFailed('timeout', 'There was no complete answer in time.', { cause: error })
    } finally {
      deadline.lift()
    }
  }

  return { requirePublicUrl: async (text) => requirePublicName(allowed(text), lookup), send }
}

const URLS_REMEMBERED_MAX = 1_000

/** The judgement of an address as text never changes, and many are called again and again. */
function allowedUrls(rules: UrlRules): (text: string) => URL {
  const known = new Map<string, URL>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const url = requireAllowedUrl(text, rules)
    if (known.size >= URLS_REMEMBERED_MAX) known.clear()
    known.set(text, url)
    return url
  }
}

/**
 * Tries the checked addresses in turn, v4 first because many servers have v6 in name only. Each
 * gets its share of the time, so that one dead address does not use up the deadline.
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
      return await opened(socket, 'connect', signal)
    } catch (error) {
      cause = error
      if (signal.aborted) break
    } finally {
      clearTimeout(timer)
    }
  }
  throw new EgressFailed('connect', 'The connection could not be opened.', { cause })
}

/** The certificate must be for the name; an address literal has no name to announce. */
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
    return await opened(socket, 'secureConnect', signal)
  } catch (cause) {
    tcp.destroy()
    if (codeOf(cause) === 'ECONNRESET') throw closedEarly(cause)
    throw new EgressFailed('tls', 'No trusted TLS connection could be made.', { cause })
  }
}

/** A socket that does not open is destroyed here: nobody else would know of it. */
async function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Socket> {
  // An error may come between two listeners, and an error without a listener ends the process.
  socket.on('error', () => undefined)
  try {
    await once(socket, event, { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

type Bounded = {
  readonly request: OutgoingRequest
  readonly headers: Record<string, string>
  readonly deadline: Deadline
}

/** The connection is kept where the answer was read to its end and the request allows it. */
async function exchange(
  connection: KeptConnection,
  url: URL,
  { request, headers, deadline }: Bounded,
  kept: KeptConnections,
): Promise<HttpResponse> {
  const { client, socket } = connection
  // Ends the request wherever it is, in the client's queue too, where it would hear no signal.
  deadline.onOver(() => void client.destroy())
  let isWhole = false
  try {
    const answer = await answerTo(
      client,
      {
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers,
        body: request.body ?? null,
      },
      request.response_bytes_max,
    )
    isWhole = answer.body.length < request.response_bytes_max && request.reuse_connection === true
    return answer
  } catch (error) {
    throw failureOf(error)
  } finally {
    deadline.onOver(undefined)
    if (isWhole) kept.keep(url.origin, connection)
    else {
      socket.destroy()
      await client.destroy()
    }
  }
}

/** Less than what common servers allow, so that it is mostly us who close an idle connection. */
const IDLE_MS = 4_000

/**
 * A client that has one socket and can get no other: left to itself it would connect again, and
 * that connection would not be a checked one.
 */
function clientOver(socket: Socket, url: URL, request: OutgoingRequest): Client {
  const { timeout_ms, reuse_connection = false } = request
  let isGiven = false
  return new Client(url.origin, {
    // Without pipelining there is no keeping either: the client asks for the connection to close.
    pipelining: reuse_connection ? 1 : 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: timeout_ms,
    bodyTimeout: timeout_ms,
    connect: (_options, done) => {
      const isUsable = !isGiven && !socket.destroyed
      isGiven = true
      // Answered at once, the client would not notice that it may start.
      queueMicrotask(() => (isUsable ? done(null, socket) : done(closedEarly(), null)))
    },
  })
}

function requestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = { 'accept-encoding': 'identity' }
  for (const given in headers) {
    const name = given.toLowerCase()
    assert(!own_headers.has(name), `${name} is not the caller's`)
    lower[name] = headers[given] ?? ''
  }
  return lower
}

function failureOf(cause: unknown): EgressFailed {
  if (cause instanceof EgressFailed) return cause
  const code = codeOf(cause)
  // A body cut off between chunks has no code, only this sentence of the parser.
  const isCut = code.endsWith('LENGTH_MISMATCH') || String(cause).includes('Invalid EOF state')
  if (isCut || /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return closedEarly(cause)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return new EgressFailed('tls', 'The TLS connection broke down.', { cause })
  }
  if (code === 'ETIMEDOUT' || code.endsWith('_TIMEOUT')) {
    return new EgressFailed('timeout', 'There was no complete answer in time.', { cause })
  }
  return new EgressFailed('protocol', 'The answer was not valid HTTP.', { cause })
}

function closedEarly(cause?: unknown): EgressFailed {
  return new EgressFailed('reset', 'The connection was closed before a full answer.', { cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
