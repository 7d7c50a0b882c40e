import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  findGrant,
  findLiveGrantsOfClient,
  hasConsentedTo,
  lockLiveGrantOf,
  markRevoked,
  replaceCardInGrants,
  requireLiveGrant,
  saveBudgetDetail,
  saveGrant,
} from './grant_store.ts'

const room = await openMoneyRoom()
const { db, clock } = room
const DETAIL = { type: 'spend_budget', amount_usd: 50, period: 'day' } as const
const CALLBACK = 'https://agent.example/callback'

async function openGrant(client_id = 'client_1') {
  const account_id = await room.openAccount()
  const id = await insertBareGrant(room, { account_id, client_id })
  const read = async () => {
    const grant = await findGrant(db, id)
    assert(grant !== undefined)
    return grant
  }
  return { account_id, id, read }
}

/** Saves a grant as a consent does, with changes. */
async function saveAgain(id: string, changes: Partial<Parameters<typeof saveGrant>[1]>) {
  const grant = await findGrant(db, id)
  assert(grant !== undefined)
  await saveGrant(db, { ...grant, redirect_uri: CALLBACK, now: clock.now(), ...changes })
}

test('a grant ends at its expiry or when it is revoked, and only once', async () => {
  const { id, account_id, read } = await openGrant('client_live')
  const { expires_at } = await read()
  const before = new Date(expires_at.getTime() - 1)
  const live = async (now: Date) => [
    (await lockLiveGrantOf(db, { account_id, id, now })) !== undefined,
    (await findLiveGrantsOfClient(db, { client_id: 'client_live', now })).includes(id),
  ]
  assert.deepEqual(
    [await live(before), await live(expires_at)],
    [
      [true, true],
      [false, false],
    ],
  )
  await requireLiveGrant(db, id, before)
  await assert.rejects(requireLiveGrant(db, id, expires_at), { code: 'token_revoked' })
  assert.equal(await markRevoked(db, id, clock.now()), true)
  assert.deepEqual(await live(before), [false, false])
  await assert.rejects(requireLiveGrant(db, id, before), { code: 'token_revoked' })
  assert.equal(await markRevoked(db, id, before), false)
})

test('nothing is made for a grant while it is being revoked', async () => {
  const { id } = await openGrant()
  let isDone = false
  const making = db.transaction(async (tx) => {
    await requireLiveGrant(tx, id, clock.now())
    const revoking = markRevoked(db, id, clock.now())
    void revoking.then(() => {
      isDone = true
    })
    await tx.rows('select pg_sleep(0.1)')
    assert.equal(isDone, false, 'the revocation waits for the transaction')
    return { revoking }
  })
  assert.equal(await (await making).revoking, true)
})

test('each redirect URI of a consent is kept, and those of an ended grant are not accepted', async () => {
  const { id, account_id } = await openGrant()
  const other = 'https://agent.example/other'
  const has = (redirect_uri: string) =>
    hasConsentedTo(db, { account_id, client_id: 'client_1', redirect_uri, now: clock.now() })
  assert.deepEqual([await has(CALLBACK), await has(other)], [true, false])
  await saveAgain(id, { redirect_uri: other })
  await saveAgain(id, { redirect_uri: other })
  assert.deepEqual([await has(CALLBACK), await has(other)], [true, true])
  const [row] = await db.rows<{ count: number }>(
    'select cardinality(redirect_uris) as count from oauth_grants where id = $1',
    [id],
  )
  assert.equal(row?.count, 2)
  await markRevoked(db, id, clock.now())
  assert.deepEqual([await has(CALLBACK), await has(other)], [false, false])
})

test('a budget replaces the earlier one and leaves the cards of the grant', async () => {
  const { id, account_id, read } = await openGrant()
  const card = { type: 'card_access' as const, identifier: 'card_1', actions: ['read'] }
  const { payload } = await read()
  await saveAgain(id, { payload: { ...payload, rar: [card] } })
  const save = (detail: typeof DETAIL | null) =>
    saveBudgetDetail(db, { account_id, id }, { detail, now: clock.now() })
  assert.equal(await save({ ...DETAIL }), 'client_1')
  await save({ ...DETAIL })
  assert.deepEqual((await read()).payload.rar, [DETAIL, card])
  await save(null)
  assert.deepEqual((await read()).payload.rar, [card])
  await markRevoked(db, id, clock.now())
  assert.equal(await save({ ...DETAIL }), undefined)
})

test('a new card takes the place of the old one in the grants of its account', async () => {
  const { id, account_id, read } = await openGrant()
  const foreign = await openGrant()
  const card = { type: 'card_access' as const, identifier: 'card_old', actions: ['read'] }
  for (const grant of [{ id, read }, foreign]) {
    const { payload } = await grant.read()
    await db.run(
      `update oauth_grants set card_ids = $2, card_actions = '{read}', payload = $3 where id = $1`,
      [grant.id, ['card_old', 'card_b'], JSON.stringify({ ...payload, rar: [card] })],
    )
  }
  const change = { from: 'card_old', to: 'card_new', now: clock.now() }
  assert.equal(await replaceCardInGrants(db, account_id, change), 1)
  const { card_ids, payload } = await read()
  assert.deepEqual(card_ids, ['card_new', 'card_b'])
  assert.deepEqual(payload.rar, [{ ...card, identifier: 'card_new' }])
  assert.deepEqual((await foreign.read()).card_ids, ['card_old', 'card_b'])
})
