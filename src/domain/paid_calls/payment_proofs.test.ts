import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditBooks } from '#domain/ledger/audit_books.ts'
import { openPaymentRoom } from '#test/support/payment_room.ts'
import { payment_proofs } from './payment_proofs.ts'

const room = await openPaymentRoom()
const { db } = room
const payment = await room.openSettled({ account_id: await room.openAccount() })

class RolledBack extends Error {}

/** The proofs that fail after a change by hand; the change is rolled back. */
async function brokenBy(sql: string): Promise<string[]> {
  const broken: string[] = []
  await db
    .transaction(async (tx) => {
      await tx.run('set local session_replication_role = replica')
      await tx.run(sql, [payment.id])
      for (const { name, sql: proof } of payment_proofs) {
        if ((await tx.rows(proof)).length > 0) broken.push(name)
      }
      throw new RolledBack()
    })
    .catch((cause: unknown) => {
      if (!(cause instanceof RolledBack)) throw cause
    })
  return broken
}

test('sound books violate no proof', async () => {
  assert.deepEqual((await auditBooks(db, payment_proofs)).violations, [])
})

const changes: [string, string][] = [
  [
    'each payment has the movements of its state, once and of its amount',
    `update x402_payments set state = 'spent' where id = $1`,
  ],
  [
    'each payment movement belongs to a payment',
    `update movements set reference_id = 'pay_none' where reference_id = $1`,
  ],
  [
    'the prepaid purse equals the payments whose call is still owed',
    'update x402_payments set amount_micros = amount_micros + 1 where id = $1',
  ],
  [
    'the gas purse equals the network fees of our transfers',
    'update x402_transfers set fee_micros = fee_micros + 1 where payment_id = $1',
  ],
]

test('every proof has a change that it finds', () => {
  assert.deepEqual(
    changes.map(([name]) => name),
    payment_proofs.map(({ name }) => name),
  )
})

for (const [name, sql] of changes) {
  test(`finds a violation of: ${name}`, async () => {
    const broken = await brokenBy(sql)
    assert(broken.includes(name), broken.join(', '))
  })
}
