import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { NetworkError, openConnection } from '#sandbox/card_network.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import { pick, runTogether } from '#test/support/mixed_storm_actors.ts'
import { assertBooksAreSound } from '#test/support/spending.ts'
import { startTestService, type TestService } from '#test/support/start.ts'
import { seeded } from '#test/support/storm.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const RESTARTS = 4
const LOAD_USD = 1

const database = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_rolling_'))
const start = () => startTestService({ database_url: database.url, data_dir })
const nodes: TestService[] = [await start(), await start()]
after(async () => {
  await database.drop()
  await rm(data_dir, { recursive: true, force: true })
})

const nodeAt = (at: number): TestService => {
  const node = nodes[at % nodes.length]
  assert(node !== undefined)
  return node
}

/** A switch repeats a message without a response on its other connection. */
async function askEither(message: OutgoingMessage, first: number): Promise<string> {
  const repeat = { ...message, mti: `${message.mti.slice(0, 3)}1` }
  for (let attempt = 0; ; attempt += 1) {
    try {
      const line = await openConnection(nodeAt(first + attempt).sandbox_host.card_host_port)
      try {
        const { fields } = await line.send(attempt === 0 ? message : repeat)
        return fields[39] ?? 'none'
      } finally {
        line.end()
      }
    } catch (cause) {
      assert(cause instanceof NetworkError && attempt < 20, String(cause))
      await delay(50)
    }
  }
}

/** A client repeats a call that was cut off, or refused by a node that stops, on the other node. */
async function loadEither(key: string, card_id: string, first: number): Promise<void> {
  const headers = { 'Idempotency-Key': randomUUID() }
  for (let attempt = 0; ; attempt += 1) {
    const { url } = nodeAt(first + attempt)
    const response = await send(url, 'POST', `/v1/cards/${card_id}/load`, {
      bearer: key,
      body: { amount_usd: LOAD_USD },
      headers,
    }).catch(() => null)
    if (response?.status === 200) return
    const isStopping = response === null || response.status === 503
    assert(isStopping && attempt < 20, `${response?.status}: ${response?.text}`)
    await delay(50)
  }
}

test(`two nodes are restarted ${RESTARTS} times under traffic and nothing fails or is lost, seed ${seed}`, async (t) => {
  const owner = await openOwner(nodes, 3)
  const card_ids = owner.cards.map(({ id }) => id)
  let isOver = false
  let loads = 0
  const codes = new Map<string, number>()
  const shop = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 100 + at)
    while (!isOver && !isStopped()) {
      const code = await askEither(purchaseMessage(pick(owner.cards, random), 1), random(2))
      codes.set(code, (codes.get(code) ?? 0) + 1)
      assert.equal(code, '00')
    }
  }
  const client = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 200 + at)
    while (!isOver && !isStopped()) {
      await loadEither(owner.key, pick(card_ids, random), random(2))
      loads += 1
    }
  }
  const restarts = async () => {
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await delay(1_500)
      await nodeAt(restart).stop()
      nodes[restart % nodes.length] = await start()
    }
    await delay(1_500)
    isOver = true
  }
  await runTogether([restarts, ...[1, 2, 3, 4].map(shop), ...[1, 2, 3, 4].map(client)])
  const db = nodeAt(0).owner_db
  const [row] = await db.rows<{ loads: bigint }>(
    `select count(*) as loads from movements where account_id = $1 and movement = 'card_loaded'`,
    [owner.account_id],
  )
  assert.equal(row?.loads, BigInt(loads + card_ids.length))
  await assertBooksAreSound(db)
  await assertEventsAreWhole(db)
  t.diagnostic(`${JSON.stringify(Object.fromEntries(codes))} card messages, ${loads} loads`)
})
