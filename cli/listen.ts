import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FlorinError } from '#client/client.ts'
import { verifyWebhook, type WebhookEvent } from '#client/verify_webhook.ts'
import { rawCall } from './calls/raw_call.ts'
import { printError, UsageError } from './exit_codes.ts'
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
    process.once(
      signal,
      () =>
        void stop()
          .catch(printError)
          .then(() => process.exit()),
    )
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
    try {
      await rawCall(connectionOf(options), `DELETE /v1/webhooks/${subscription.id}`)
    } finally {
      server.close()
      server.closeAllConnections()
    }
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
  const body = { url, events, description }
  return rawCall<Subscription>(connectionOf(options), 'POST /v1/webhooks', body).catch((cause) => {
    throw isRefusedUrl(cause) ? sandboxOnly(cause) : cause
  })
}

const connectionOf = ({ url, key }: { url: string; key: string }) => ({ url, bearer: key })

const isRefusedUrl = (cause: unknown): cause is FlorinError =>
  cause instanceof FlorinError && cause.code === 'invalid_webhook_url'

function sandboxOnly({ code, message, status, request_id }: FlorinError): FlorinError {
  const hint = 'florin listen needs a sandbox on this machine.'
  return new FlorinError({ code, message: `${message} ${hint}`, status, request_id })
}
