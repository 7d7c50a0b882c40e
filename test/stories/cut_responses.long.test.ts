import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { callCard, getCard } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Reply } from '#test/support/http.ts'
import { openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const { port } = new URL(url)

/** Sends the call and closes the connection after so many bytes of the response. */
async function loadAndCut(
  bearer: string,
  path: string,
  key: string,
  bytes: number,
): Promise<number> {
  const body = '{"amount_usd":1}'
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
      `Idempotency-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  let received = 0
  if (bytes > 0) {
    for await (const chunk of socket) {
      received += (chunk as Buffer).length
      if (received >= bytes) break
    }
  } else await once(socket, 'connect')
  socket.destroy()
  return received
}

/** The response once no earlier call with the same key is running, such as one that was cut. */
async function answerOf(retry: () => Promise<Reply>): Promise<Reply> {
  let reply = await retry()
  const isAnswered = async () => {
    if (reply.status === 409) reply = await retry()
    return reply.status === 200
  }
  assert(await eventually(isAnswered, { within_ms: 10_000 }), reply.text)
  return reply
}

test('a response cut at any byte is repeated by a retry, and the call runs once', async (t) => {
  const spender = await openSpender(service, { usd: 0, treasury_usd: 2_000 })
  const { key: bearer, card } = spender
  const path = `/v1/cards/${card.id}/load`
  const length = await loadAndCut(bearer, path, randomUUID(), 1_000_000)
  assert(length > 200, `${length} bytes`)
  let calls = 1
  for (let cut = 0; cut <= length; cut += 1) {
    const key = randomUUID()
    await loadAndCut(bearer, path, key, cut)
    const retry = () =>
      callCard(
        url,
        { id: card.id, verb: 'load' },
        {
          bearer,
          body: { amount_usd: 1 },
          key,
        },
      )
    const first = await answerOf(retry)
    const again = await answerOf(retry)
    assert.equal(again.headers.get('idempotent-replayed'), 'true', again.text)
    assert.equal(again.text, first.text)
    calls += 1
  }
  assert.equal((await getCard(url, bearer, card.id)).balance_usd, calls)
  t.diagnostic(`cut at ${length + 1} places, ${calls} calls, 0 repeated`)
})
