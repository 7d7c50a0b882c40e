import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { isObject } from '#rails/chain/tron/transaction_json.ts'
import type { Chain } from './chain.ts'
import { accountTransfers, contractEvents, transactionEvents } from './events.ts'
import type { Faults } from './faults.ts'
import { respondToRpc } from './json_rpc.ts'
import { View } from './view.ts'
import {
  ContractCallError,
  full_node_reads,
  type WalletCall,
  WalletError,
  type WalletRequest,
  wallet_reads,
} from './wallet_reads.ts'
import { hexMessage } from './wallet_shapes.ts'
import { broadcastJson, building_calls, constant_calls } from './wallet_writes.ts'

export type HttpServerOptions = { chain(): Chain; faults: Faults; beforeEach(): void }

/** Longer than the polling interval of clients, because a new connection costs more than a call. */
const KEEP_ALIVE_MS = 60_000
const BODY_BYTES_MAX = 25 * 1024 * 1024
const THROTTLED = { Error: 'class java.lang.IllegalAccessException : lack of computing resources' }
const GARBAGE = '<html><body>502 Bad Gateway'

const full_calls: Record<string, WalletCall> = {
  ...wallet_reads,
  ...full_node_reads,
  ...constant_calls,
  ...building_calls,
}
const solid_calls: Record<string, WalletCall> = { ...wallet_reads, ...constant_calls }

/** The node's HTTP API, its JSON-RPC and the indexer's /v1, all on one port. */
export function createHttpServer(options: HttpServerOptions): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    serve(options, request, response).catch((error: unknown) => {
      respond(response, 500, { Error: String(error) })
    })
  })
}

async function serve(
  options: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://node')
  const path = url.pathname.replace(/^\/+/, '')
  const { faults } = options
  const delay = faults.takeOnPath('delay', path)
  if (delay !== null) await wait(delay.delay_ms)
  const body = await bodyOf(request)
  const status = faults.takeOnPath('status', path)
  if (status !== null) return respond(response, status.status, { Error: 'simulated fault' })
  if (faults.takeOnPath('garbage', path) !== null) return respond(response, 200, GARBAGE)
  if (faults.takeOnPath('throttled', path) !== null) return respond(response, 200, THROTTLED)
  options.beforeEach()
  const result = dispatch(options, { path, query: url.searchParams, body })
  if (faults.takeOnPath('lost_answer', path) !== null) {
    request.socket.destroy()
    return
  }
  if (result === undefined) return respond(response, 404, 'Not Found')
  respond(response, 200, result)
}

type Request = { path: string; query: URLSearchParams; body: string | null }

/** Undefined if there is no such call. */
function dispatch(options: HttpServerOptions, request: Request): unknown {
  const lag = options.faults.takeOnPath('lagging_head', request.path)?.blocks ?? 0
  const view = new View(options.chain(), { lag })
  const [first, second, name = '', last] = request.path.split('/')
  if (first === 'jsonrpc') return respondToRpc(view, parseJson(request.body), options.faults)
  if (first === 'wallet' && second !== undefined)
    return respondToWallet(options, view, second, request)
  if (first === 'walletsolidity' && second !== undefined) {
    const solid_view = new View(options.chain(), { lag, solid: true })
    return respondToWallet(options, solid_view, second, request)
  }
  if (first !== 'v1') return undefined
  if (second === 'contracts' && last === 'events') return contractEvents(view, name, request.query)
  if (second === 'transactions' && last === 'events') {
    return transactionEvents(view, name, request.query)
  }
  if (second === 'accounts' && request.path.endsWith('/transactions/trc20')) {
    return accountTransfers(view, name, request.query)
  }
  return undefined
}

function respondToWallet(
  options: HttpServerOptions,
  view: View,
  name: string,
  request: Request,
): unknown {
  const sent = request.body === null ? {} : parseJson(request.body)
  const params = { ...Object.fromEntries(request.query), ...(isObject(sent) ? sent : {}) }
  const wallet_request: WalletRequest = {
    view,
    params,
    visible: params.visible === true || params.visible === 'true',
  }
  const isSolid = request.path.startsWith('walletsolidity')
  try {
    if (name === 'broadcasttransaction' && !isSolid) {
      const fault = options.faults.take('refused_broadcast', () => true)
      return broadcastJson(view.chain, wallet_request, fault?.code ?? null)
    }
    const calls = isSolid ? solid_calls : full_calls
    return Object.hasOwn(calls, name) ? calls[name]?.(wallet_request) : undefined
  } catch (error) {
    if (error instanceof ContractCallError) {
      return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hexMessage(error.message) } }
    }
    if (!(error instanceof WalletError)) throw error
    return { Error: `class java.lang.IllegalArgumentException : ${error.message}` }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  return bytes === 0 ? null : Buffer.concat(chunks).toString('utf8')
}

function parseJson(body: string | null): unknown {
  try {
    return JSON.parse(body ?? 'null')
  } catch {
    return null
  }
}

function respond(response: ServerResponse, status: number, content: unknown): void {
  const isText = typeof content === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' })
  response.end(isText ? content : JSON.stringify(content))
}
