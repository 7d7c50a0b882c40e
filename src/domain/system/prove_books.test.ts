import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { fundTreasury } from '#test/support/money.ts'
import { accountsAfter, changedAccounts, listFindings } from './proof_store.ts'
import { proveChanges } from './prove_books.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url)
after(async () => {
  await db.close()
  await clone.drop()
})

const HOUR_MS = 3_600_000
const RUNS_A_DAY = 24
let now = new Date()
beforeEach(() => {
  now = new Date(now.getTime() + HOUR_MS)
})

const openFunded = async () => {
  const account_id = await insertBareAccount(db)
  await fundTreasury(db, account_id, 10)
  return account_id
}

const changed = async () =>
  (await changedAccounts(db, await accountsAfter(db, '', 1_000))).map(
    ({ account_id }) => account_id,
  )

const changeTreasury = (account_id: string, by_micros: number) =>
  db.run(
    `update purses set balance_micros = balance_micros + $2
      where account_id = $1 and kind = 'treasury'`,
    [account_id, by_micros],
  )

const nothing = (): void => undefined
const prove = (check = nothing) => proveChanges(db, { now, check })

test('a run proves the accounts that are new or have changed, and the next run only those', async () => {
  const [one, other] = [await openFunded(), await openFunded()]
  assert.deepEqual((await changed()).sort(), [one, other].sort())
  await prove()
  assert.deepEqual(await changed(), [])
  await db.run(
    `insert into movements
     select account_id, 'bal_' || id_time($2) || '0000000000000000', movement, from_kind,
            from_owner_id, from_balance_micros, to_kind, to_owner_id, 20000000, amount_micros,
            reference_type, reference_id, description, $2
       from movements where account_id = $1`,
    [one, now],
  )
  await db.run('update purses set balance_micros = 20000000 where account_id = $1 and kind = $2', [
    one,
    'treasury',
  ])
  assert.deepEqual(await changed(), [one])
  assert.equal((await prove()).changed, 1)
  assert.deepEqual(await listFindings(db, 10), [])
})

test('a run that dies continues with the accounts that it has not proven', async () => {
  await prove()
  for (let at = 0; at < 255; at += 1) await openFunded()
  let steps = 0
  const dies = () => {
    steps += 1
    // An account's history and its present are a step each.
    if (steps > 2) throw new Error('the process dies here')
  }
  await assert.rejects(prove(dies), /dies here/)
  assert.equal((await changed()).length, 5, 'the first 250 accounts are proven')
  await prove()
  assert.deepEqual(await changed(), [])
})

test('a change that leaves no trace is found within a day by the cycle over all accounts', async () => {
  const account_id = await openFunded()
  await prove()
  await changeTreasury(account_id, 1)
  assert.deepEqual(await changed(), [])
  let found = await listFindings(db, 10)
  for (let runs = 0; runs < RUNS_A_DAY && found.length === 0; runs += 1) {
    await prove()
    found = await listFindings(db, 10)
  }
  assert.deepEqual(
    found.map((finding) => [finding.account_id, finding.sentence]),
    [[account_id, 'The treasury purse has $10.000001; its movements sum to $10.']],
  )
  await changeTreasury(account_id, -1)
  await prove()
  assert.deepEqual(await listFindings(db, 10), [])
})

test('a wrong sum that a run continued from is read again from the start before it is reported', async () => {
  const account_id = await openFunded()
  await prove()
  await db.run(
    `update proven_accounts
        set running = jsonb_set(running, '{balances,sums,treasury|}', '"1"'), through = ''
      where account_id = $1`,
    [account_id],
  )
  assert.deepEqual(await changed(), [account_id])
  await prove()
  assert.deepEqual(await listFindings(db, 10), [])
  assert.deepEqual(await changed(), [])
})
