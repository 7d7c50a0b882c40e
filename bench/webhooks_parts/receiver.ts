import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Runs in a separate process, so it takes no CPU time from the sender: one endpoint that accepts
 * immediately and records the age of each event, and some that never respond.
 */
const ages_ms: number[] = []
let count = 0

const accepting = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    count += 1
    if (request.url === '/aged') {
      const { created_at } = JSON.parse(Buffer.concat(chunks).toString())
      ages_ms.push(Date.now() - Date.parse(created_at))
    }
    response.end()
  })
})
const HANGING = 100
const hang = () => listen(createServer(() => undefined))

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    ),
  )
}

process.on('message', () => {
  process.send?.({ count, ages_ms })
  count = 0
  ages_ms.length = 0
})
process.on('disconnect', () => process.exit(0))
process.send?.({
  accepting: await listen(accepting),
  hanging: await Promise.all(Array.from({ length: HANGING }, hang)),
})
