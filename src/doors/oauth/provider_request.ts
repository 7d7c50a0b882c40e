import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { Settings } from '#settings/settings.ts'

type RequestOverrides = { url?: string; body?: string }

/**
 * The request as the library sees it, with its host pinned to FLORIN_PUBLIC_URL: the library builds
 * URLs from the Host header, which the sender controls.
 */
export function providerRequest(
  settings: Settings,
  request: FastifyRequest,
  overrides: RequestOverrides,
): IncomingMessage {
  const { raw } = request
  const { host, protocol } = new URL(settings.public_url)
  const body = Buffer.from(overrides.body ?? (request.body as Buffer | undefined) ?? '')
  const headers = {
    ...raw.headers,
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'content-length': String(body.length),
  }
  const url = overrides.url ?? raw.url
  const { method, socket, httpVersion, httpVersionMajor, httpVersionMinor } = raw
  const properties = {
    headers,
    url,
    method,
    socket,
    httpVersion,
    httpVersionMajor,
    httpVersionMinor,
  }
  return Object.assign(
    Readable.from([body], { objectMode: false }),
    properties,
  ) as unknown as IncomingMessage
}

/** The library writes to the raw response; the headers set so far stay. */
export function hijackReply(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.hijack()
}

/** Lets the library respond. */
export async function delegateToProvider(
  provider: Provider,
  settings: Settings,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  overrides: RequestOverrides = {},
): Promise<void> {
  const req = providerRequest(settings, request, overrides)
  hijackReply(reply)
  await provider.callback()(req, reply.raw)
}
