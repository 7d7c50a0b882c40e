import assert from 'node:assert/strict'
import type { Balance } from '#contract/balance.ts'
import type { Topup } from '#contract/topups.ts'
import { type TopupRow, topupReference } from '#domain/topups/topup.ts'
import { insertTopup } from '#domain/topups/topup_store.ts'
import type { Runtime } from '#operations/runtime.ts'
import { plainEvent, recordTestEvents } from './events.ts'
import { type Reply, send } from './http.ts'

/** Inserts a top-up directly, with the event of its creation. */
export async function insertBareTopup(
  dependencies: Pick<Runtime, 'db' | 'clock' | 'newId'>,
  fields: Parameters<typeof insertTopup>[1],
): Promise<TopupRow> {
  const topup = await insertTopup(dependencies.db, fields)
  const resource = topupReference(topup.id)
  await recordTestEvents(dependencies, topup.account_id, [
    plainEvent('topup.created', { resource }),
  ])
  return topup
}

/** A new top-up of this amount. */
export async function awaitedTopup(url: string, bearer: string, amount_usd = 25): Promise<Topup> {
  const reply = await send(url, 'POST', '/v1/topups', { bearer, body: { amount_usd } })
  assert.equal(reply.status, 201, reply.text)
  return topupIn(reply)
}

export const topupIn = ({ body }: Reply): Topup => body as unknown as Topup

export async function topupOf(url: string, bearer: string, id: string): Promise<Topup> {
  const reply = await send(url, 'GET', `/v1/topups/${id}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return topupIn(reply)
}

type Act = 'deposit' | 'confirm' | 'expire' | 'reorg'

/** Changes a top-up on the sandbox's chain. */
export async function onChain(
  { url, bearer, id }: { url: string; bearer: string; id: string },
  act: Act,
  body: object = {},
): Promise<Topup> {
  const reply = await send(url, 'POST', `/sandbox/v1/topups/${id}/${act}`, { bearer, body })
  assert.equal(reply.status, 200, reply.text)
  return topupIn(reply)
}

/** Funds an account with a final deposit. */
export async function fund(url: string, bearer: string, amount_usd: number): Promise<void> {
  const { id } = await awaitedTopup(url, bearer, Math.max(5, Math.min(amount_usd, 50_000)))
  await onChain({ url, bearer, id }, 'deposit', { amount_usd })
  const topup = await onChain({ url, bearer, id }, 'confirm')
  assert.equal(topup.status, 'completed')
}

export async function balanceOf(url: string, bearer: string): Promise<Balance> {
  const reply = await send(url, 'GET', '/v1/balance', { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as unknown as Balance
}

/** The types of the account's events, in order. */
export async function eventTypes(
  db: { rows<Row extends object>(sql: string, params: unknown[]): Promise<Row[]> },
  account_id: string,
): Promise<string[]> {
  const rows = await db.rows<{ type: string }>(
    'select type from events where account_id = $1 and sequence is not null order by sequence',
    [account_id],
  )
  return rows.map(({ type }) => type).filter((type) => !type.startsWith('account.'))
}

/** A row in memory: a top-up of 25 USD that has received nothing. */
export const bareTopupRow = (times: Pick<TopupRow, 'created_at' | 'expires_at'>): TopupRow => ({
  account_id: 'acct_1',
  id: 'tup_1',
  asset: 'USDT',
  chain: 'tron',
  deposit_address: 'T1',
  amount_micros: 25_000_000n,
  status: 'awaiting',
  status_reason: null,
  resting_status: 'awaiting',
  resting_reason: null,
  pending: [],
  pending_micros: 0n,
  final_micros: 0n,
  credited_micros: 0n,
  is_late: false,
  txids: [],
  last_block: null,
  qr_data_uri: 'data:,',
  payment_uri: 'tron:',
  closed_at: null,
  completed_at: null,
  metadata: {},
  version: 1n,
  updated_at: times.created_at,
  head_number: null,
  ...times,
})
