import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook, type WebhookEvent } from '#client/verify_webhook.ts'
import { UsageError } from './exit_codes.ts'
import { type ConnectionOptions, resolveConnection } from './profiles/connection.ts'

export type ListenOptions = { forward?: string; url: string; events: string }

type Subscription = { id: string; secret: string }
type Print = (line: string) => void

/**
 * Creates a temporary webhook that points at this machine and deletes it on exit. Only a sandbox
 * delivers to private addresses, so this works with a sandbox only.
 */
export async function listen(
  options: ConnectionOptions & Omit<ListenOptions, 'url'>,
): Promise<void> {
  const { url, bearer: key } = await resolveConnection(options)
  if (key === undefined) {
    throw new UsageError('No API key. Pass --key, set FLORIN_KEY, or run `florin login`.')
  }
  const print: Print = (line) => void process.stdout.write(`${line}\n`)
  const stop = await startListening({ ...options, url, key }, print)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(0)))
  }
}

/** Returns a function that deletes the webhook and closes the server. */
export async function startListening(
  options: ListenOptions & { key: string },
  print: Print,
): Promise<() => Promise<void>> {
  let secret = ''
  const server = createServer((request, response) => {
    receive(request, response, { secret, print, forward: options.forward }).catch((cause) => {
      print(`!  ${cause instanceof Error ? cause.message : String(cause)}`)
      response.writeHead(400).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const subscription = await subscribe(options, `http://127.0.0.1:${port}/`).catch((cause) => {
    server.close()
    throw cause
  })
  secret = subscription.secret
  print(`Listening for events from ${options.url}. Signing secret: ${secret}`)
  if (options.forward !== undefined) print(`Forwarding to ${options.forward}`)
  return async () => {
    await call(options, 'DELETE', `/v1/webhooks/${subscription.id}`)
    server.close()
    server.closeAllConnections()
  }
}

type ReceiverContext = { secret: string; print: Print; forward: string | undefined }

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, print, forward }: ReceiverContext,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const event = await verifyWebhook(body, request.headers, secret)
  if (forward === undefined) {
    print(formatEvent(event))
    response.writeHead(200).end()
    return
  }
  const status = await forwardTo(forward, request, body)
  print(`${formatEvent(event)}  -> ${status ?? 'no response'}`)
  // Pass the receiver's status on, so that failures are retried as in production.
  response.writeHead(status ?? 502).end()
}

function formatEvent({ created_at, type, id, sequence }: WebhookEvent): string {
  return `${created_at}  ${type.padEnd(24)}  ${id}  #${sequence ?? '-'}`
}

/** Forwards the same bytes and signature; returns null if the receiver did not respond. */
async function forwardTo(
  forward: string,
  { headers }: IncomingMessage,
  body: Buffer,
): Promise<number | null> {
  const names = ['content-type', 'service-signature', 'service-event-id'] as const
  const kept = names.map((name) => [name, String(headers[name] ?? '')] as const)
  const sent = { method: 'POST', headers: Object.fromEntries(kept), body: new Uint8Array(body) }
  return fetch(forward, { ...sent, redirect: 'manual' }).then(
    ({ status }) => status,
    () => null,
  )
}

async function subscribe(
  options: ListenOptions & { key: string },
  url: string,
): Promise<Subscription> {
  const events = options.events.split(',').map((type) => type.trim())
  const description = 'florin listen'
  return call(options, 'POST', '/v1/webhooks', { url, events, description })
}

async function call<ResponseBody>(
  { url, key }: { url: string; key: string },
  method: string,
  path: string,
  body?: object,
): Promise<ResponseBody> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(url.replace(/\/+$/, '') + path, { method, headers, ...sent })
  const text = await reply.text()
  if (reply.ok) return (text === '' ? {} : JSON.parse(text)) as ResponseBody
  const { error, message } = JSON.parse(text) as { error: string; message: string }
  const hint =
    error === 'invalid_webhook_url' ? ' florin listen needs a sandbox on this machine.' : ''
  throw new Error(`${message}${hint}`)
}
