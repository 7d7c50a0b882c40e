// A webhook receiver: verifies the signature, ignores duplicates and responds immediately. It
// creates its own webhook with FLORIN_URL and FLORIN_KEY of a local sandbox. In production, pass
// the secret.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createClient, verifyWebhook, WebhookVerificationError } from '@florin/client'

const { FLORIN_URL: url = 'http://127.0.0.1:8080', FLORIN_KEY: bearer, PORT = '0' } = process.env
const florin = createClient({ url, bearer })
const handled = new Set() // In production, use a database, so it survives a restart.
let secret = ''

function handle(event) {
  if (handled.has(event.id)) return
  handled.add(event.id)
  console.log(`${event.type} ${event.data.object.id ?? ''}`)
}

/** Decides a 3-D Secure challenge: approves purchases up to $100. */
function decide({ challenge_id, amount_usd }) {
  const decision = amount_usd <= 100 ? 'approve' : 'decline'
  console.log(`three_ds.challenge ${decision}`)
  return JSON.stringify({ challenge_id, decision })
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const event = await verifyWebhook(Buffer.concat(chunks), request.headers, secret)
    if (event.type === 'three_ds.challenge') return response.end(decide(event.data.object))
    response.writeHead(204).end()
    handle(event)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    console.log(`refused: ${error.reason}`)
    response.writeHead(400).end()
  }
})
server.listen(Number(PORT), '127.0.0.1')
await once(server, 'listening')

const address = `http://127.0.0.1:${server.address().port}/`
const webhook = await florin.create_webhook({
  url: address,
  events: ['*', 'three_ds.challenge'],
})
secret = webhook.secret
console.log(`listening on ${address}`)

process.once('SIGTERM', async () => {
  await florin.delete_webhook({ id: webhook.id })
  process.exit(0)
})
