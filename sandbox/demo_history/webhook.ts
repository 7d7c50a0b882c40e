import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { call, type DemoSandbox } from './demo_sandbox.ts'

/** Each one that the endpoint refuses is sent again. */
const REFUSES_EVERY = 15

/** A subscription whose endpoint works during the demo only. */
export type DemoWebhook = { close(): Promise<void> }

export async function subscribe(sandbox: DemoSandbox, bearer: string): Promise<DemoWebhook> {
  const server = await startEndpoint()
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/florin`
  const { id } = await call(sandbox, 'create_webhook', { url, events: ['*'] }, bearer)
  return {
    close: async () => {
      await sandbox.host.advanceClock(0)
      // Nobody listens from now on: an enabled endpoint would fail for days.
      await call(sandbox, 'update_webhook', { id, status: 'disabled' }, bearer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startEndpoint(): Promise<Server> {
  let received = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      received += 1
      response.writeHead(received % REFUSES_EVERY === 0 ? 500 : 204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
