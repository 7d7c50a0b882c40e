import type { ForwardedRequest, ForwardedResponse, Surface } from '#domain/context/surface.ts'

/** Sends the sandbox's calls to the process that has its chain, card network and clock. */
export function forwardSandboxCalls(
  forward: (request: ForwardedRequest) => Promise<ForwardedResponse>,
): Surface {
  return (app) => {
    app.all('/sandbox/v1/*', async (request, reply) => {
      const { status, headers, body } = await forward({
        method: request.method,
        url: request.url,
        headers: presentHeaders(request.headers),
        body: (request.body as Buffer | undefined) ?? null,
        ip: request.socket.remoteAddress ?? '',
      })
      return reply.code(status).headers(headers).send(Buffer.from(body))
    })
  }
}

function presentHeaders(headers: NodeJS.Dict<string | string[]>): ForwardedRequest['headers'] {
  const present = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(present)
}
