import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { hold_proofs } from './hold_proofs.ts'

const issuer = await openIssuer()
const card = await insertBareCard(issuer)
const purchase = purchaseMessage(card, 1_000)
await issuer.ask(purchase)
const fields = { 37: purchase.fields[37] }
await issuer.ask(purchaseMessage(card, 400, { mti: '0220', fields }))

class RolledBack extends Error {}

/** The proofs that fail after a change by hand; the change is rolled back. */
async function brokenBy(sql: string): Promise<string[]> {
  const db = openDatabase(issuer.url, { pool_size: 1 })
  const broken: string[] = []
  await db
    .transaction(async (tx) => {
      await tx.run('set local session_replication_role = replica')
      await tx.run(sql, [card.account_id])
      for (const { name, sql: proof } of hold_proofs) {
        if ((await tx.rows(proof)).length > 0) broken.push(name)
      }
      throw new RolledBack()
    })
    .catch((cause: unknown) => {
      if (!(cause instanceof RolledBack)) throw cause
    })
    .finally(() => db.close())
  return broken
}

test('sound books violate no proof', async () => {
  assert.deepEqual(await brokenBy('select $1::text'), [])
})

/** One change for each proof, in their order. */
const changes = [
  `update transactions set held_micros = held_micros - 1
    where account_id = $1 and type = 'authorization'`,
  `update transactions set status = 'reversed' where account_id = $1 and type = 'authorization'`,
  `update transactions set amount_micros = amount_micros + 1
    where account_id = $1 and type = 'capture'`,
  `update transactions set captured_micros = captured_micros + 1
    where account_id = $1 and type = 'authorization'`,
  'update events set sequence = sequence + 1 where account_id = $1 and sequence is not null',
]

for (const [at, { name }] of hold_proofs.entries()) {
  test(`finds a violation of: ${name}`, async () => {
    const broken = await brokenBy(changes[at] ?? 'select $1::text')
    assert(broken.includes(name), broken.join(', '))
  })
}
