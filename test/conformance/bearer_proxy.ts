import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

/** A proxy that adds a bearer, which the suite can't send; everything else is unchanged. */
export async function startBearerProxy(port: number, bearer: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const passed = { ...headers, authorization: `Bearer ${bearer}` }
    const options = { host: '127.0.0.1', port, method, path: url, headers: passed }
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
