// Runs alone, because a card message that waits for a second is declined, also on a busy machine.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openConnection } from '#sandbox/card_network.ts'
import { getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { assertDecided } from '#test/support/on_time.ts'

const ROUNDS = 250
const RACING = 4

const { first, second } = await startTwoNodes()
const owner = await openOwner(first, 1)
const [card] = owner.cards
assert(card !== undefined)
const lines = await Promise.all(
  [first, second].map(({ sandbox_host }) => openConnection(sandbox_host.card_host_port)),
)
after(() => {
  for (const line of lines) line.end()
})

const buy = async (at: number) => {
  const { fields } = (await (lines[at % 2] ?? lines[0])?.send(purchaseMessage(card, 1))) ?? {}
  assertDecided(fields?.[39], 'a purchase')
  return fields?.[39]
}

const change = async (at: number, method: string, path: string, body: object = {}) => {
  const { url } = at % 2 === 0 ? first : second
  const reply = await send(url, method, `/v1/cards/${card.id}/${path}`, { bearer: owner.key, body })
  assert.equal(reply.status, 200, reply.text)
}

type Rule = { forbid(at: number): Promise<void>; allow(at: number): Promise<void>; code: string }

const rules: Readonly<Record<string, Rule>> = {
  'a freeze': {
    forbid: (at) => change(at, 'POST', 'freeze'),
    allow: (at) => change(at, 'POST', 'unfreeze'),
    code: '9G',
  },
  'a limit': {
    forbid: (at) => change(at, 'PATCH', 'limits', { per_transaction_usd: 0 }),
    allow: (at) => change(at, 'PATCH', 'limits', { per_transaction_usd: null }),
    code: '61',
  },
  'a category rule': {
    forbid: (at) => change(at, 'PATCH', 'mcc', { deny: ['5732'] }),
    allow: (at) => change(at, 'PATCH', 'mcc', { deny: null }),
    code: '9G',
  },
  'a country rule': {
    forbid: (at) => change(at, 'PATCH', 'geo', { deny: ['US'] }),
    allow: (at) => change(at, 'PATCH', 'geo', { deny: null }),
    code: '9G',
  },
}

for (const [name, { forbid, allow, code }] of Object.entries(rules)) {
  test(`${ROUNDS} times, no purchase is approved after the response to ${name}`, async (t) => {
    let approved = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const racing = Array.from({ length: RACING }, (_, at) => buy(round + at))
      await forbid(round)
      const late = await Promise.all([buy(round), buy(round + 1)])
      assert.deepEqual(late, [code, code], `round ${round}`)
      for (const response of await Promise.all(racing)) {
        assert(response === '00' || response === code, response)
        if (response === '00') approved += 1
      }
      await allow(round + 1)
    }
    await assertBooksSound(first.runtime.db)
    t.diagnostic(`${ROUNDS} rounds, ${approved} approved before, 0 after`)
  })
}

test('the card holds exactly what was approved', async () => {
  const { held_usd, balance_usd } = await getCard(first.url, owner.key, card.id)
  assert.equal(Math.round((held_usd + balance_usd) * 100), 50_000)
})
