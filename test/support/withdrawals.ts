import assert from 'node:assert/strict'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { type Reply, send } from './http.ts'

/** A new external wallet. */
export const WALLET = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'

type Account = { url: string; bearer: string }

export function askToWithdraw({ url, bearer }: Account, body: object): Promise<Reply> {
  return send(url, 'POST', '/v1/withdrawals', { bearer, body: { address: WALLET, ...body } })
}

export async function requested(account: Account, amount_usd: number): Promise<Withdrawal> {
  const reply = await askToWithdraw(account, { amount_usd })
  assert.equal(reply.status, 201, reply.text)
  return reply.body as unknown as Withdrawal
}

export async function withdrawalOf({ url, bearer }: Account, id: string): Promise<Withdrawal> {
  const reply = await send(url, 'GET', `/v1/withdrawals/${id}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as unknown as Withdrawal
}

/** Changes a withdrawal on the sandbox's chain. */
export async function endOnChain(
  { url, bearer }: Account,
  id: string,
  end: 'confirm' | 'fail',
): Promise<Withdrawal> {
  const reply = await send(url, 'POST', `/sandbox/v1/withdrawals/${id}/${end}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as unknown as Withdrawal
}

export async function requestedTo(
  account: Account,
  address: string,
  amount_usd: number,
): Promise<Withdrawal> {
  const reply = await askToWithdraw(account, { amount_usd, address })
  assert.equal(reply.status, 201, reply.text)
  return reply.body as unknown as Withdrawal
}
