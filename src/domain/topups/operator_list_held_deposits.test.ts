import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListHeldDeposits } from './operator_list_held_deposits.ts'
import { operatorReleaseDeposit } from './operator_release_deposit.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListHeldDeposits>[1] = {}) =>
  (await room.operate((context) => operatorListHeldDeposits(context, input))).value

test('lists held deposits with their reason and the sender in the notation of its chain', async () => {
  const account_id = await room.openAccount()
  const topup = await room.openTopup(account_id)
  const id = await room.deposit(topup, 999_999n)
  await room.deposit(await room.openTopup(account_id), 25_000_000n)
  const [deposit, ...others] = (await list()).data
  assert.equal(others.length, 0, 'a credited deposit is not listed')
  assert.match(deposit?.from_address ?? '', /^T/)
  assert.deepEqual(
    [deposit?.id, deposit?.account_email, deposit?.topup_id, deposit?.amount_usd, deposit?.reason],
    [id, `${account_id}@example.com`, topup.id, 0.999999, 'below_minimum'],
  )
})

test('lists the newest first, page by page, until a deposit is released', async () => {
  const account_id = await room.openAccount()
  const held: string[] = []
  for (let count = 0; count < 2; count += 1) {
    room.clock.pass(1_000)
    held.push(await room.deposit(await room.openTopup(account_id), 25_000_000n, 'block'))
  }
  const page = await list({ limit: 1 })
  assert.deepEqual([page.data[0]?.id, page.data[0]?.reason], [held[1], 'screening'])
  const next = await list({ limit: 1, cursor: page.next_cursor ?? '' })
  assert.equal(next.data[0]?.id, held[0])
  await room.operate((context) => operatorReleaseDeposit(context, { id: held[1] ?? '' }))
  assert.equal((await list({ limit: 1 })).data[0]?.id, held[0])
})
