import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'

type RpcRequest = { id: number; method: string; params: unknown[] }

/** A proxy to a chain node that forwards calls and replaces the results of chosen methods. */
export async function startLyingNode(behind: string) {
  const lies = new Map<string, (truth: unknown) => unknown>()
  const headers = { 'content-type': 'application/json' }
  const respond = async (body: string): Promise<string> => {
    const { id, method } = JSON.parse(body) as RpcRequest
    const truth = await fetch(behind, { method: 'POST', headers, body })
    const response_json = (await truth.json()) as { result?: unknown }
    const lie = lies.get(method)
    const response_body =
      lie === undefined ? response_json : { jsonrpc: '2.0', id, result: lie(response_json.result) }
    return JSON.stringify(response_body)
  }
  const server = createServer((request, response) => {
    void text(request)
      .then(respond)
      .then(
        (response_body) => response.writeHead(200, headers).end(response_body),
        // The node behind it has stopped, as at the end of a test.
        () => response.writeHead(502).end(),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** Replaces the results of a method until the returned function is called. */
    lieAbout: (method: string, lie: (truth: unknown) => unknown) => {
      lies.set(method, lie)
      return () => void lies.delete(method)
    },
  }
}
