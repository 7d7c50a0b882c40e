import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Database } from '#platform/postgres/db.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { startBaseChain } from './base_chain.ts'
import { advance } from './calls.ts'
import { startCrashing } from './crashing_node.ts'
import { type Reply, send } from './http.ts'
import { assertBooksSound } from './money.ts'
import { requiredBy, signed, toHeader } from './paying.ts'
import { openAccount } from './people.ts'
import { startTestService } from './start.ts'
import { balanceOf } from './topups.ts'

const PRICE = 500_000n
/** Longer than the lease of a payment's call, and than the grace period for a repeat. */
const LEASE_S = 61
const GRACE_S = 11 * 60

/** Payments that are not in a final state. */
const unfinished = (db: Database) =>
  db.rows(
    `select state, leased_until from x402_payments
      where state not in ('spent', 'failed', 'credited')`,
  )

/** A chain, a healthy service, and paid calls to nodes that die during the call. */
export async function startPaidCrashes() {
  const data_dir = mkdtempSync(join(tmpdir(), 'florin_paid_crash_'))
  const chain = await startBaseChain(data_dir)
  const env = chain.env({ issue_card: '0.50' })
  const service = await startTestService({ data_dir, env })
  after(() => rmSync(data_dir, { recursive: true, force: true }))
  const { url, runtime, tasks } = service
  const database = { FLORIN_DATABASE_URL: service.database_url, FLORIN_DATA_DIR: data_dir }

  /** Pays a node for a card; the node dies at this failpoint. */
  async function crashAt(point: Failpoint) {
    const { bearer } = await openAccount(url)
    const payer = await chain.payer(10n * PRICE)
    const sent = { bearer, key: randomUUID(), body: { type: 'virtual' } }
    const due = await send(url, 'POST', '/v1/cards', sent)
    const headers = { 'payment-signature': toHeader(await signed(payer, requiredBy(due))) }
    const node = await startCrashing(point, { ...env, ...database, FLORIN_MODE: 'sandbox' })
    await node.arm()
    await assert.rejects(send(node.url, 'POST', '/v1/cards', { ...sent, headers }))
    await node.died
    const repeat = (): Promise<Reply> => send(url, 'POST', '/v1/cards', { ...sent, headers })
    return { bearer, payer, repeat }
  }

  const paidBy = async (payer: PrivateKeyAccount) =>
    10n * PRICE - (await chain.balanceOf(payer.address))
  const cardsOf = async (bearer: string): Promise<number> =>
    (await send(url, 'GET', '/v1/cards', { bearer })).body['data'].length

  return {
    /** A retry with the same payment gets the card and is charged once. */
    async assertRepeatedAfter(point: Failpoint): Promise<void> {
      const { bearer, payer, repeat } = await crashAt(point)
      await advance(url, bearer, LEASE_S)
      const reply = await repeat()
      assert.equal(reply.status, 201, `${point}: ${reply.text}`)
      assert.equal(await paidBy(payer), PRICE, point)
      assert.equal(await cardsOf(bearer), 1, point)
      assert.equal((await repeat()).headers.get('idempotent-replayed'), 'true')
      await assertBooksSound(runtime.db)
    },
    /** Without a retry, the charge is returned as balance. */
    async assertAbandonedAfter(point: Failpoint, taken: bigint): Promise<void> {
      const { bearer, payer } = await crashAt(point)
      for (const seconds of [LEASE_S, GRACE_S]) {
        await advance(url, bearer, seconds)
        await tasks.run(['resolve_payments'])
      }
      assert.equal(await paidBy(payer), taken, point)
      assert.equal(await cardsOf(bearer), 0, point)
      assert.deepEqual(await unfinished(runtime.db), [])
      assert.equal((await balanceOf(url, bearer)).balance_usd, Number(taken) / 1e6)
      await assertBooksSound(runtime.db)
    },
    PRICE,
  }
}
