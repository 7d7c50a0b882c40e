import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endBrowserSessions } from '#domain/accounts/browser_sessions.ts'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  consumePayload,
  deleteClients,
  deleteExpiredPayloads,
  findPayload,
  findPayloadByUid,
  findUnusedClients,
  lockTokensOfGrant,
  type NewOauthPayload,
  upsertPayload,
} from './oauth_payload_store.ts'

const room = await openMoneyRoom()
const { db, clock } = room
const HOUR_MS = 3_600_000
const later = (ms: number) => new Date(clock.now().getTime() + ms)

const save = (row: Partial<NewOauthPayload> & { model: string; id: string }) =>
  upsertPayload(db, {
    payload: {},
    grant_id: null,
    uid: null,
    client_id: null,
    account_id: null,
    signed_in_at: null,
    now: clock.now(),
    expires_at: later(HOUR_MS),
    ...row,
  })
const exists = async (model: string, id: string) =>
  (await findPayload(db, model, [id])) !== undefined

test('of concurrent uses of a code exactly one succeeds', async () => {
  await save({ model: 'AuthorizationCode', id: 'code_1' })
  const code = { model: 'AuthorizationCode', ids: ['code_1'], now: clock.now() }
  const uses = await Promise.all(Array.from({ length: 5 }, () => consumePayload(db, code)))
  assert.equal(uses.filter((isFirst) => isFirst).length, 1)
  const used = await findPayload(db, 'AuthorizationCode', ['code_1'])
  assert.deepEqual(used?.consumed_at, clock.now())
})

test('saving again replaces the content and keeps that it was used', async () => {
  await save({ model: 'RefreshToken', id: 'token_1', payload: { scope: 'card:read' } })
  await consumePayload(db, { model: 'RefreshToken', ids: ['token_1'], now: clock.now() })
  await save({ model: 'RefreshToken', id: 'token_1', payload: { scope: '' } })
  const token = await findPayload(db, 'RefreshToken', ['token_1'])
  assert.deepEqual([token?.payload, token?.consumed_at], [{ scope: '' }, clock.now()])
})

test('a browser session is unknown once its account ended those of that time', async () => {
  const account_id = await room.openAccount()
  const session = { model: 'Session', account_id, signed_in_at: clock.now() }
  await save({ ...session, id: 'before', uid: 'uid_before' })
  clock.pass(1_000)
  await db.transaction((tx) => endBrowserSessions(tx, account_id, clock.now()))
  // Written by a request that was in progress.
  await save({ ...session, id: 'before', uid: 'uid_before' })
  assert.equal(await exists('Session', 'before'), false)
  assert.equal(await findPayloadByUid(db, 'Session', 'uid_before'), undefined)
  clock.pass(1_000)
  await save({ ...session, id: 'after', signed_in_at: clock.now() })
  assert.equal(await exists('Session', 'after'), true)
})

test('the tokens of a grant are those that can still be used', async () => {
  const grant_id = await insertBareGrant(room, { account_id: await room.openAccount() })
  const payload = { scope: 'card:read', aud: 'https://florin.example/mcp' }
  await save({ model: 'AccessToken', id: 'live', grant_id, payload })
  await save({ model: 'RefreshToken', id: 'bare', grant_id })
  await save({ model: 'AccessToken', id: 'expired', grant_id, expires_at: clock.now() })
  await save({ model: 'RefreshToken', id: 'used', grant_id })
  await consumePayload(db, { model: 'RefreshToken', ids: ['used'], now: clock.now() })
  await save({ model: 'AuthorizationCode', id: 'code', grant_id })
  assert.deepEqual(await lockTokensOfGrant(db, grant_id, clock.now()), [
    { model: 'AccessToken', id: 'live', scope: payload.scope, audience: payload.aud },
    { model: 'RefreshToken', id: 'bare', scope: '', audience: null },
  ])
})

test('old clients and all but the newest are unused, unless an owner gave them a grant', async () => {
  for (const id of ['client_old', 'client_used', 'client_new', 'client_newest']) {
    await save({ model: 'Client', id, expires_at: null })
    clock.pass(1_000)
  }
  await insertBareGrant(room, { account_id: await room.openAccount(), client_id: 'client_used' })
  const find = async (before: Date, kept_max: number) =>
    (await findUnusedClients(db, { before, kept_max })).toSorted()
  assert.deepEqual(await find(later(-3_000), 10), ['client_old'])
  assert.deepEqual(await find(later(-10_000), 1), ['client_new', 'client_old'])
})

test('a client that was given a grant meanwhile is kept, and a deleted one takes its access along', async () => {
  const registration = { model: 'RegistrationAccessToken', expires_at: null }
  for (const client_id of ['client_gone', 'client_kept']) {
    await save({ model: 'Client', id: client_id, expires_at: null })
    await save({ ...registration, id: `access of ${client_id}`, client_id })
  }
  await insertBareGrant(room, { account_id: await room.openAccount(), client_id: 'client_kept' })
  await deleteClients(db, ['client_gone', 'client_kept'])
  const left = await Promise.all([
    exists('Client', 'client_gone'),
    exists(registration.model, 'access of client_gone'),
    exists('Client', 'client_kept'),
    exists(registration.model, 'access of client_kept'),
  ])
  assert.deepEqual(left, [false, false, true, true])
})

test('only what has expired is deleted, of one model or of all', async () => {
  await save({ model: 'Interaction', id: 'open', expires_at: later(1) })
  await save({ model: 'Interaction', id: 'over', expires_at: later(-1) })
  await save({ model: 'DeviceCode', id: 'over', expires_at: later(-1) })
  await deleteExpiredPayloads(db, { before: clock.now(), model: 'Interaction' })
  const found = async () =>
    Promise.all([
      exists('Interaction', 'open'),
      exists('Interaction', 'over'),
      exists('DeviceCode', 'over'),
    ])
  assert.deepEqual(await found(), [true, false, true])
  await deleteExpiredPayloads(db, { before: clock.now() })
  assert.deepEqual(await found(), [true, false, false])
})
