import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditBooks } from '#domain/ledger/audit_books.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal, signedRow, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import { completeWithdrawal, storeTransfer } from './advance_withdrawal.ts'
import { chain_proofs } from './chain_proofs.ts'

const room = await openMoneyRoom()
const { db, chain } = room
const dependencies = withdrawalDependencies(room)

const credited = await room.openTopup(await room.openAccount())
await room.deposit(credited, 200_000_000n)
const held = await room.openTopup(await room.openAccount())
const held_movement_id = await room.deposit(held, 30_000_000n, 'block')
const open = await openWithdrawal(room)
const signed = await openWithdrawal(room)
const completed = await openWithdrawal(room)
for (const withdrawal of [signed, completed]) {
  const stored = await storeTransfer(dependencies, withdrawal, {
    sender: chain.hot_wallet,
    transfer: signedRow(),
  })
  if (withdrawal !== completed) continue
  await completeWithdrawal(dependencies, withdrawal, {
    block_number: 7,
    txid: stored?.txid ?? '',
  })
}

class RolledBack extends Error {}

/** The proofs that fail after a change by hand; the change is rolled back. */
async function brokenBy(sql: string, params: unknown[] = []): Promise<string[]> {
  const broken: string[] = []
  await db
    .transaction(async (tx) => {
      await tx.run('set local session_replication_role = replica')
      await tx.run(sql, params)
      for (const { name, sql: proof } of chain_proofs) {
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
  assert.deepEqual((await auditBooks(db, chain_proofs)).violations, [])
})

const changes: [string, string, unknown[]][] = [
  [
    'each final transfer has exactly one movement of its amount',
    'update movements set amount_micros = amount_micros + 1 where id = $1',
    [held_movement_id],
  ],
  [
    'each movement from a chain has exactly one final transfer',
    'delete from chain_transfers where movement_id = $1',
    [held_movement_id],
  ],
  [
    'the amounts of a top-up are the sums of its transfers',
    'update topups set credited_micros = credited_micros - 1 where id = $1',
    [credited.id],
  ],
  [
    'the payout purse of an account equals its open withdrawals',
    `update purses set balance_micros = balance_micros + 1
      where account_id = $1 and kind = 'payout'`,
    [open.account_id],
  ],
  [
    'each deposit being refunded has one open withdrawal, and each such withdrawal a deposit',
    `update chain_transfers set state = 'refunding' where movement_id = $1`,
    [held_movement_id],
  ],
  [
    'custody equals received transfers minus completed withdrawals',
    'update withdrawals set fee_micros = fee_micros + 1 where id = $1',
    [completed.id],
  ],
  [
    'the unswept amount of an address is its transfers minus its sweeps',
    'update address_holdings set swept_micros = 1 where topup_id = $1',
    [credited.id],
  ],
  [
    'each signed withdrawal has its signed bytes stored',
    `update withdrawals set txid = 'other' where id = $1`,
    [signed.id],
  ],
]

test('every proof has a change that it finds', () => {
  assert.deepEqual(
    changes.map(([name]) => name),
    chain_proofs.map(({ name }) => name),
  )
})

for (const [name, sql, params] of changes) {
  test(`finds a violation of: ${name}`, async () => {
    const broken = await brokenBy(sql, params)
    assert(broken.includes(name), broken.join(', '))
  })
}
