import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook, type WebhookEvent } from '#client/verify_webhook.ts'
import { UsageError } from './exit_codes.ts'
import { type ConnectionOptions, connectionOf } from './profiles/connection.ts'

export type ListenOptions = { forward?: string; url: string; events: string }

type Subscription = { id: string; secret: string }
type Print = (line: string) => void

/**
 * A developer's ear: a subscription of its own to an address on this machine, made through the API
 * like any other and deleted on the way out. That the service may call this machine is what the
 * sandbox allows, so it is a tool for the sandbox.
 */
export async function listen(
  options: ConnectionOptions & Omit<ListenOptions, 'url'>,
): Promise<void> {
  const { url, bearer: key } = await connectionOf(options)
  if (key === undefined) {
    throw new UsageError('Give an API key with --key or in FLORIN_KEY, or `florin login` first.')
  }
  const print: Print = (line) => void process.stdout.write(`${line}\n`)
  const stop = await startListening({ ...options, url, key }, print)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(0)))
  }
}

/** Answers with what ends it: the subscription is deleted, then nothing listens any more. */
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
  print(`Listening to ${options.url}. The signing secret is ${secret}`)
  if (options.forward !== undefined) print(`Forwarding to ${options.forward}`)
  return async () => {
    await call(options, 'DELETE', `/v1/webhooks/${subscription.id}`)
    server.close()
    server.closeAllConnections()
  }
}

type Receiving = { secret: string; print: Print; forward: string | undefined }

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, print, forward }: Receiving,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const event = await verifyWebhook(body, request.headers, secret)
  if (forward === undefined) {
    print(lineOf(event))
    response.writeHead(200).end()
    return
  }
  const status = await forwardTo(forward, request, body)
  print(`${lineOf(event)}  -> ${status ?? 'no answer'}`)
  // Answered as the receiver did, so that its failures are retried as they will be in production.
  response.writeHead(status ?? 502).end()
}

function lineOf({ created_at, type, id, sequence }: WebhookEvent): string {
  return `${created_at}  ${type.padEnd(24)}  ${id}  #${sequence ?? '-'}`
}

/** The same bytes with the same signature; null where there was no answer. */
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

async function call<Answer>(
  { url, key }: { url: string; key: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(url.replace(/\/+$/, '') + path, { method, headers, ...sent })
  const text = await reply.text()
  if (reply.ok) return (text === '' ? {} : JSON.parse(text)) as Answer
  const { error, message } = JSON.parse(text) as { error: string; message: string }
  const hint =
    error === 'invalid_webhook_url' ? ' florin listen works with a sandbox on this machine.' : ''
  throw new Error(`${message}${hint}`)
}
