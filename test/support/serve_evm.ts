import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after } from 'node:test'

type Provider = { request(call: never): Promise<unknown>; disconnect(): Promise<unknown> }
type Call = { id: number; method: string; params?: unknown[] }

/** A ganache node behind Node's HTTP server: its own brings 114 MB of binaries. */
export async function serveEvm(provider: Provider): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Call | Call[]
    const result = Array.isArray(body)
      ? await Promise.all(body.map((call) => perform(provider, call)))
      : await perform(provider, body)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    server.close()
    server.closeAllConnections()
    await provider.disconnect()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function perform(provider: Provider, { id, method, params = [] }: Call) {
  const version = { jsonrpc: '2.0', id }
  try {
    return { ...version, result: await provider.request({ method, params } as never) }
  } catch (cause) {
    const {
      code = -32_603,
      message,
      data,
    } = cause as { code?: number; message: string; data?: unknown }
    return { ...version, error: { code, message, data } }
  }
}
