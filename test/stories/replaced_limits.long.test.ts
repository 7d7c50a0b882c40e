import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Card } from '#contract/cards.ts'
import type { Transaction } from '#contract/transactions.ts'
import { callCard, getCard } from '#test/support/cards.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import {
  authorize,
  callSandbox,
  follow,
  forceCapture,
  openSpender,
} from '#test/support/spending.ts'

const { first, second } = await startTwoNodes()
const { url } = first
const { db } = first.runtime

type Spender = Awaited<ReturnType<typeof openSpender>>

const openLimited = (limits: object, usd = 500) => openSpender(first, { usd, limits })

async function replace(spender: Spender, node = first): Promise<Spender> {
  const { bearer, card } = spender
  const reply = await callCard(node.url, { id: card.id, verb: 'replace' }, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return { ...spender, card: reply.body as unknown as Card }
}

const spentOf = async ({ bearer, card }: Spender) => {
  const { daily_usd, monthly_usd } = (await getCard(url, bearer, card.id)).limits.spent
  return [daily_usd, monthly_usd]
}

const codeOf = ({ decline_code }: Transaction) => decline_code

test('a released hold of a replaced card frees the limit of its replacement', async () => {
  const old = await openLimited({ daily_usd: 50 })
  const [reversed, expired] = [
    await authorize(url, old, { amount: 25 }),
    await authorize(url, old, { amount: 15 }),
  ]
  const card = await replace(old)
  assert.deepEqual(await spentOf(card), [40, 40])
  assert.equal(codeOf(await authorize(url, card, { amount: 11 })), 'limit_daily')
  await follow(url, old, { id: reversed.id, verb: 'reverse', amount: 5 })
  assert.deepEqual(await spentOf(card), [35, 35])
  await follow(url, old, { id: reversed.id, verb: 'reverse' })
  await follow(url, old, { id: expired.id, verb: 'expire' })
  assert.deepEqual(await spentOf(card), [0, 0])
  assert.equal(codeOf(await authorize(url, card, { amount: 50 })), null)
  await assertBooksSound(db)
})

test('captures of a replaced card above its holds count on its replacement', async () => {
  const old = await openLimited({ daily_usd: 50 })
  const held = await authorize(url, old, { amount: 10 })
  const card = await replace(old)
  await follow(url, old, { id: held.id, verb: 'capture', amount: 30 })
  assert.deepEqual(await spentOf(card), [30, 30])
  await forceCapture(url, old, { amount: 15 })
  assert.deepEqual(await spentOf(card), [45, 45])
  const captured = await forceCapture(url, old, { amount: 1 })
  await follow(url, old, { id: captured.id, verb: 'refund' })
  assert.deepEqual(await spentOf(card), [46, 46], 'a refund does not lower the usage')
  await assertBooksSound(db)
})

test('usage always counts on the last card of a chain of replacements', async () => {
  const a = await openLimited({ daily_usd: 100 })
  const of_a = await authorize(url, a, { amount: 20 })
  const b = await replace(a)
  const of_b = await authorize(url, b, { amount: 30 })
  const c = await replace(b)
  assert.deepEqual(await spentOf(c), [50, 50])
  await follow(url, a, { id: of_a.id, verb: 'reverse' })
  assert.deepEqual(await spentOf(c), [30, 30])
  await callCard(url, { id: c.card.id, verb: 'cancel' }, { bearer: c.bearer })
  await follow(url, b, { id: of_b.id, verb: 'reverse' })
  assert.deepEqual(await spentOf(c), [0, 0])
  await assertBooksSound(db)
})

test('later messages of a card replaced before its first use count on its replacement', async () => {
  const old = await openSpender(first, { usd: 0, treasury_usd: 50 })
  const card = await replace(old)
  await forceCapture(url, old, { amount: 15 })
  assert.deepEqual(await spentOf(card), [15, 15])
})

test('replacing a card during its messages on two nodes loses no usage and no message', async () => {
  let spender = await openSpender(first, { usd: 900, treasury_usd: 900 })
  const nodes = [first, second]
  const replies: { status: number; text: string }[] = []
  const open: { id: string }[] = []
  const messages = async (node: typeof first) => {
    for (let step = 0; step < 30; step += 1) {
      const ask = (path: string, body = {}) => callSandbox(node.url, spender.key, path, body)
      const authorized = await ask(`cards/${spender.card.id}/authorize`, { amount: 3 })
      replies.push(authorized)
      if (authorized.body['type'] === 'authorization') open.push(authorized.body as never)
      // Follows up an older authorization, whose card may have been replaced since.
      const [older] = step % 2 === 1 ? open.splice(Math.floor(Math.random() * open.length), 1) : []
      if (older === undefined) continue
      const verb = ['reverse', 'capture', 'expire'][step % 3]
      const amount = verb === 'capture' ? { amount: 5 } : {}
      replies.push(await ask(`transactions/${older.id}/${verb}`, amount))
    }
  }
  const replacing = async () => {
    for (let count = 0; count < 8; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      spender = await replace(spender, nodes[count % 2])
    }
  }
  await Promise.all([...nodes, ...nodes, ...nodes].map(messages).concat(replacing()))
  assert.deepEqual(
    replies.filter(({ status }) => status !== 200).map(({ text }) => text),
    [],
  )
  const [stats] = await db.rows<{ deadlocks: bigint }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  assert.equal(Number(stats?.deadlocks), 0)
  const [counted] = await db.rows<{ usd: number }>(
    `select (coalesce(sum(open_micros + captured_micros), 0) / 1000000)::int as usd
       from transactions where account_id = $1 and type = 'authorization'`,
    [spender.account_id],
  )
  assert((counted?.usd ?? 0) > 0)
  assert.deepEqual(await spentOf(spender), [counted?.usd, counted?.usd])
  await assertBooksSound(db)
})
