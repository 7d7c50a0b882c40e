import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPaymentRoom } from '#test/support/payment_room.ts'
import { payment_proofs } from './payment_proofs.ts'

const room = await openPaymentRoom()
const { db } = room
const payment = await room.openSettled({ account_id: await room.openAccount() })

class RolledBack extends Error {}

/** The proofs that fail after a change by hand, with their sentence; it is rolled back. */
async function brokenBy(sql: string): Promise<[string, string][]> {
  const broken: [string, string][] = []
  const now = new Date()
  await db
    .transaction(async (tx) => {
      await tx.run('set local session_replication_role = replica')
      await tx.run(sql, [payment.id])
      for (const { name, sql: proof } of payment_proofs) {
        const [found] = await tx.rows<{ sentence: string }>(
          proof,
          proof.includes('$1') ? [now] : [],
        )
        if (found !== undefined) broken.push([name, found.sentence])
      }
      throw new RolledBack()
    })
    .catch((cause: unknown) => {
      if (!(cause instanceof RolledBack)) throw cause
    })
  return broken
}

test('sound books violate no proof', async () => {
  assert.deepEqual(await brokenBy('select $1::text'), [])
})

const RECENT = 'each recent payment has the movements of its state, once and of its amount'
const STATE = 'each payment has the movements of its state, once and of its amount'

const PREPAID = 'the prepaid purse equals the payments whose call is still owed'

/** The proofs that a change violates, and the sentence of the first one. */
const breakages: [string[], string, string | RegExp][] = [
  [
    [RECENT, STATE, PREPAID],
    `update x402_payments set state = 'failed' where id = $1`,
    'The payment is failed, with the movements call_paid.',
  ],
  [
    ['each payment movement belongs to a payment'],
    `update movements set reference_id = 'pay_none'
      where reference_id = $1 and movement = 'relayer_fee_paid'`,
    'relayer_fee_paid names the payment pay_none, which is missing.',
  ],
  [
    [PREPAID],
    `with moved as (
       update movements set to_kind = 'prepaid'
        where reference_id = $1 and movement = 'relayer_fee_paid' returning amount_micros)
     update x402_transfers set fee_micros = fee_micros - (select sum(amount_micros) from moved)
      where payment_id = $1`,
    /^The prepaid purse has \$[\d.]+; open payments sum to \$[\d.]+\.$/,
  ],
  [
    ['the gas purse equals the network fees of our transfers'],
    'update x402_transfers set fee_micros = fee_micros + 1 where payment_id = $1',
    /^The gas purse has \$[\d.]+; the fees of our transfers sum to \$[\d.]+\.$/,
  ],
  [
    ['no payment stays unresolved for more than a day'],
    `update x402_payments set leased_until = now() - interval '25 hours' where id = $1`,
    /^The payment is settled since /,
  ],
]

test('every proof has a breakage that it finds', () => {
  assert.deepEqual(
    [...new Set(breakages.flatMap(([names]) => names))].sort(),
    payment_proofs.map(({ name }) => name).sort(),
  )
})

for (const [names, sql, sentence] of breakages) {
  test(`finds a violation of: ${names[0]}`, async () => {
    const broken = await brokenBy(sql)
    assert.deepEqual(
      broken.map(([name]) => name),
      names,
    )
    const said = broken[0]?.[1] ?? ''
    if (typeof sentence === 'string') assert.equal(said, sentence)
    else assert.match(said, sentence)
  })
}
