import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareCard } from '#test/support/issuer.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorSetCardShipping } from './operator_set_card_shipping.ts'

type Input = Parameters<typeof operatorSetCardShipping>[1]
const room = await openMoneyRoom()
const ship = (id: string, status: Input['status'], tracking: Partial<Input> = {}) =>
  room.operate((context) => operatorSetCardShipping(context, { ...tracking, id, status }))

const PENDING = {
  status: 'pending',
  name: 'Ada Lovelace',
  line1: '12 St James Square',
  city: 'London',
  postal_code: 'SW1Y 4JH',
  country: 'GB',
  shipped_at: null,
  delivered_at: null,
}

async function openPhysical(): Promise<string> {
  const { id } = await insertBareCard(room)
  await room.db.run(`update cards set type = 'physical', shipping = $2 where id = $1`, [
    id,
    JSON.stringify(PENDING),
  ])
  return id
}

test('each step keeps its time and the tracking that was sent before, and is audited', async () => {
  const id = await openPhysical()
  const shipped_at = room.clock.now().toISOString()
  const { entries } = await ship(id, 'shipped', { carrier: 'Royal Mail', tracking_number: 'RM1' })
  assert.deepEqual(entries, [{ action: 'ship_card', resource: { type: 'card', id } }])
  room.clock.pass(86_400_000)
  const { shipping } = (await ship(id, 'delivered')).value
  assert.deepEqual(
    [shipping?.status, shipping?.shipped_at, shipping?.delivered_at],
    ['delivered', shipped_at, room.clock.now().toISOString()],
  )
  assert.deepEqual([shipping?.carrier, shipping?.tracking_number], ['Royal Mail', 'RM1'])
})

test('a delivered card can only be returned, and no card is pending again', async () => {
  const id = await openPhysical()
  await ship(id, 'submitted')
  const conflict = { code: 'invalid_request', status: 409 }
  await assert.rejects(ship(id, 'pending'), conflict)
  await ship(id, 'delivered')
  await assert.rejects(ship(id, 'shipped'), {
    ...conflict,
    message: 'Shipping status cannot change from delivered to shipped.',
  })
  assert.equal((await ship(id, 'delivered')).value.shipping?.status, 'delivered')
  assert.equal((await ship(id, 'returned')).value.shipping?.status, 'returned')
})

test('refuses a virtual card and an unknown one', async () => {
  const { id } = await insertBareCard(room)
  await assert.rejects(ship(id, 'shipped'), { message: 'A virtual card has no shipping.' })
  await assert.rejects(ship('card_unknown', 'shipped'), { code: 'not_found' })
})
