import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  consumeUndos,
  createUndo,
  findUndo,
  listReservedEmails,
  UNDO_HOURS,
  type UndoKind,
} from './security_undo.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room

async function open(account_id: string, email: string, kind: UndoKind = 'email_changed') {
  clock.pass(1_000)
  return createUndo(db, dependencies, { account_id, email, kind, now: clock.now() })
}
const find = (token: string) => findUndo(db, dependencies, { token, now: clock.now() })
async function use(token: string): Promise<void> {
  const undo = await find(token)
  assert(undo !== undefined)
  await consumeUndos(db, undo, clock.now())
}

test('a link names its account and address for 72 hours, and is stored only as a hash', async () => {
  const account_id = await room.openAccount()
  const token = await open(account_id, 'ada@example.com')
  const [stored] = await db.rows<{ text: string }>('select u::text as text from security_undos u')
  assert(!stored?.text.includes(token))
  clock.pass(UNDO_HOURS * 3_600_000 - 1)
  const undo = await find(token)
  assert.deepEqual([undo?.account_id, undo?.email], [account_id, 'ada@example.com'])
  assert.deepEqual(await listReservedEmails(db, clock.now()), ['ada@example.com'])
  clock.pass(1)
  assert.equal(await find(token), undefined)
  assert.deepEqual(await listReservedEmails(db, clock.now()), [])
  assert.equal(await find('unknown'), undefined)
})

test('a used link is void, as are later links: an attacker has those', async () => {
  const account_id = await room.openAccount()
  const owner = await open(account_id, 'owner@example.com')
  const attacker = await open(account_id, 'attacker@example.com')
  await use(owner)
  assert.deepEqual([await find(owner), await find(attacker)], [undefined, undefined])
})

test('an attacker’s own link does not end the owner’s earlier one', async () => {
  const account_id = await room.openAccount()
  const owner = await open(account_id, 'owner@example.com')
  const attacker = await open(account_id, 'attacker@example.com')
  await use(attacker)
  assert.equal(await find(attacker), undefined)
  assert.equal((await find(owner))?.email, 'owner@example.com')
})

test('earlier links to the same address end too, and those of other accounts stay', async () => {
  const [account_id, other_id] = [await room.openAccount(), await room.openAccount()]
  const earlier = await open(account_id, 'same@example.com')
  const foreign = await open(other_id, 'same@example.com')
  await use(await open(account_id, 'same@example.com'))
  assert.equal(await find(earlier), undefined)
  assert.equal((await find(foreign))?.account_id, other_id)
})

test('a link says whether two-factor authentication was just turned on', async () => {
  const account_id = await room.openAccount()
  const email = await open(account_id, 'ada@example.com')
  assert.equal((await find(email))?.is_two_factor_new, false)
  await open(account_id, 'ada@example.com', 'two_factor_on')
  assert.equal((await find(email))?.is_two_factor_new, true)
})
