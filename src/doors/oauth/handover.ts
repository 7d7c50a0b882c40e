import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { Settings } from '#platform/config.ts'

type Given = { url?: string; body?: string }

/**
 * The request as the library sees it: its own address pinned to FLORIN_PUBLIC_URL, since it builds
 * every address it tells from the Host, and Host is for the sender to choose.
 */
export function pinned(settings: Settings, request: FastifyRequest, given: Given): IncomingMessage {
  const { raw } = request
  const { host, protocol } = new URL(settings.public_url)
  const body = Buffer.from(given.body ?? (request.body as Buffer | undefined) ?? '')
  const headers = {
    ...raw.headers,
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'content-length': String(body.length),
  }
  const url = given.url ?? raw.url
  const { method, socket, httpVersion, httpVersionMajor, httpVersionMinor } = raw
  const seen = { headers, url, method, socket, httpVersion, httpVersionMajor, httpVersionMinor }
  return Object.assign(
    Readable.from([body], { objectMode: false }),
    seen,
  ) as unknown as IncomingMessage
}

/** Lets the library answer. It writes to the raw response, with whatever headers stand there. */
export async function handOver(
  provider: Provider,
  settings: Settings,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  given: Given = {},
): Promise<void> {
  const req = pinned(settings, request, given)
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.hijack()
  await provider.callback()(req, reply.raw)
}
