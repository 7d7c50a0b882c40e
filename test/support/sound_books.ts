import assert from 'node:assert/strict'
import { ACCOUNT_CELL } from './account_cell.ts'
import { callCard, issueCard, openHolder } from './cards.ts'
import { sharedTemplate } from './database.ts'
import { send } from './http.ts'
import { authorize, callSandbox, follow } from './spending.ts'
import { startTestService, type TestService } from './start.ts'
import { awaitedTopup, fund, onChain } from './topups.ts'
import { endOnChain, requested } from './withdrawals.ts'

const VELOCITY = {
  create_topup: { account_per_day: 50 },
  issue_card: { account_per_day: 50 },
  withdraw: { account_per_day: 50 },
}

/**
 * A database in which one account has done a bit of everything, through the API, the card host and
 * the chain. The service is stopped, so nothing changes it. Runs with one cell and with
 * two may share a server, and the database has the number of its cell.
 */
export const soundBooks = (): Promise<string> => sharedTemplate(`sound_books_${ACCOUNT_CELL}`, fill)

async function fill(database_url: string): Promise<void> {
  const env = { FLORIN_RISK: JSON.stringify({ velocity: VELOCITY }) }
  const service = await startTestService({ env, database_url })
  const { key } = await openHolder(service)
  await fund(service.url, key, 400)
  await spend(service, key)
  await changeCards(service, key)
  await useCards(service, key)
  await moveCoins(service, key)
  await service.stop()
}

/** Purchases in every state: open, captured, refunded, expired, reversed, declined, disputed. */
async function spend({ url }: TestService, key: string): Promise<void> {
  const card = await issueCard(url, key, { load_usd: 150 })
  const spender = { key, card }
  const purchase = async (amount: number, verb?: 'capture' | 'expire' | 'reverse') => {
    const { id } = await authorize(url, spender, { amount, merchant_name: 'Corner Books' })
    return verb === undefined ? { id } : follow(url, spender, { id, verb })
  }
  await purchase(10)
  await purchase(8, 'expire')
  await purchase(6, 'reverse')
  await purchase(1_000)
  await authorize(url, spender, { amount: 1, cvv: '0000' })
  const refunded = await purchase(20, 'capture')
  await follow(url, spender, { id: refunded.id, verb: 'refund', amount: 5 })
  await dispute(url, key, refunded.id)
  const lost = await dispute(url, key, (await purchase(12, 'capture')).id)
  const closed = await callSandbox(url, key, `disputes/${lost}/close`, { outcome: 'lost' })
  assert.equal(closed.status, 200, closed.text)
}

async function dispute(url: string, bearer: string, transaction_id: string): Promise<string> {
  const reply = await send(url, 'POST', '/v1/disputes', {
    bearer,
    body: { transaction_id, reason: 'not_received', explanation: 'Nothing came.' },
  })
  assert.equal(reply.status, 201, reply.text)
  return reply.body['id']
}

async function changeCards({ url }: TestService, key: string): Promise<void> {
  const [thawed, frozen, cancelled] = [
    await issueCard(url, key),
    await issueCard(url, key),
    await issueCard(url, key),
  ]
  const change = async (id: string, verb: string) => {
    const reply = await callCard(url, { id, verb }, { bearer: key })
    assert.equal(reply.status, 200, reply.text)
  }
  await change(thawed.id, 'freeze')
  await change(thawed.id, 'unfreeze')
  await change(frozen.id, 'freeze')
  await change(cancelled.id, 'cancel')
}

/** A single-use card that made its purchase, and two purchases at the merchant of a lock. */
async function useCards({ url }: TestService, key: string): Promise<void> {
  const once = await issueCard(url, key, { load_usd: 9, usage: 'single_use' })
  await authorize(url, { key, card: once }, { amount: 3 })
  const locked = await issueCard(url, key, { load_usd: 9, usage: 'merchant_locked' })
  await authorize(url, { key, card: locked }, { amount: 1, merchant_name: 'Netflix' })
  await authorize(url, { key, card: locked }, { amount: 2, merchant_name: 'Netflix' })
}

/** Top-ups and withdrawals in every state, and a deposit in suspense. */
async function moveCoins({ url }: TestService, key: string): Promise<void> {
  const account = { url, bearer: key }
  await awaitedTopup(url, key)
  const { id: expired } = await awaitedTopup(url, key)
  await onChain({ ...account, id: expired }, 'expire')
  const { id: small } = await awaitedTopup(url, key)
  await onChain({ ...account, id: small }, 'deposit', { amount_usd: 0.5 })
  await onChain({ ...account, id: small }, 'confirm')
  const completed = await requested(account, 30)
  await endOnChain(account, completed.id, 'confirm')
  const failed = await requested(account, 20)
  await endOnChain(account, failed.id, 'fail')
}
