import { randomBytes } from 'node:crypto'
import { collect } from '#domain/paid_calls/collect.ts'
import type { Bill, PaymentRow } from '#domain/paid_calls/payment.ts'
import type { PaymentContext } from '#domain/paid_calls/payment_context.ts'
import { assert } from '#kernel/assert.ts'
import type { Facilitator, Settlement } from '#rails/x402/facilitator.ts'
import type { PaymentNetwork, Receipt } from '#rails/x402/receipt.ts'
import type { Relayer } from '#rails/x402/relayer.ts'
import { type MoneyRoom, openMoneyRoom } from './money_room.ts'

export const PAY_TO = `0x${'22'.repeat(20)}`
const RELAYER = `0x${'33'.repeat(20)}`
export const PRICE = 500_000n

/** A payment network in memory: tests decide which transfers it has mined. */
type TestNetwork = PaymentNetwork & {
  receipts: Map<string, Receipt>
  /** Transfers by the payer's nonce, from any sender. */
  settlements: Map<string, string>
  sent: string[]
  /** Mines a transfer that pays this payment, or that reverts. */
  mine(txid: string, payment?: PaymentRow): void
}

/** A facilitator whose responses tests decide; it signs and stores like our own relayer. */
type TestFacilitator = Facilitator & {
  objection: string | null | Error
  outcome: (txid: string, bill: { payer: string }) => Settlement
  /** The txids that it signed. */
  signed: string[]
}

export type PaymentRoom = MoneyRoom & {
  network: TestNetwork
  facilitator: TestFacilitator
  context: PaymentContext
  newBill(fields?: Partial<Bill>): Bill
  /** A payment that is settled and waits for its call. */
  openSettled(fields?: Partial<Bill>): Promise<PaymentRow>
  stateOf(id: string): Promise<string>
}

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`

export async function openPaymentRoom(): Promise<PaymentRoom> {
  const room = await openMoneyRoom()
  const network = testNetwork()
  const facilitator = testFacilitator()
  const relayer = {
    address: RELAYER,
    refund: async (_to: string, _amount: bigint, store) => {
      const { txid } = await store(RELAYER, 0n, async (nonce) => signedAt(nonce))
      return txid
    },
  } as Relayer
  const context: PaymentContext = { ...room.dependencies, network, facilitator, relayer }
  const stateOf = async (id: string) => {
    const [row] = await room.db.rows<{ state: string }>(
      'select state from x402_payments where id = $1',
      [id],
    )
    return row?.state ?? 'none'
  }
  return {
    ...room,
    network,
    facilitator,
    context,
    newBill: (fields) => newBill(room, fields),
    stateOf,
    openSettled: async (fields) => {
      facilitator.outcome = (txid, bill) => {
        network.receipts.set(txid, receiptOf(txid, bill))
        return { outcome: 'settled', txid }
      }
      const row = await collect(context, newBill(room, fields))
      assert((await stateOf(row.id)) === 'settled', 'the payment is settled')
      return row
    },
  }
}

function newBill({ clock }: MoneyRoom, fields: Partial<Bill> = {}): Bill {
  return {
    priced: { amount_micros: PRICE, pay_to: PAY_TO, url: 'http://x/v1', description: '' },
    payment: {
      payer: hex(20),
      nonce: hex(32),
      amount_micros: PRICE,
      valid_before: new Date(clock.now().getTime() + 300_000),
      payload: { x402Version: 2 } as never,
    },
    operation: 'issue_card',
    account_id: null,
    request_id: hex(8),
    fingerprint: hex(8),
    ...fields,
  }
}

const signedAt = (nonce: bigint) => ({ nonce, txid: hex(32), raw: `raw ${nonce}` })

export const receiptOf = (txid: string, { payer }: { payer: string }): Receipt => ({
  txid,
  ok: true,
  fee_wei: 10n ** 12n,
  transfers: [{ from: payer, to: PAY_TO, value: PRICE }],
})

function testNetwork(): TestNetwork {
  const receipts = new Map<string, Receipt>()
  const settlements = new Map<string, string>()
  const sent: string[] = []
  return {
    receipts,
    settlements,
    sent,
    mine: (txid, payment) => {
      const reverted = { txid, ok: false, fee_wei: 10n ** 12n, transfers: [] }
      receipts.set(txid, payment === undefined ? reverted : receiptOf(txid, payment))
    },
    settlementOf: async (_payer, nonce) => settlements.get(nonce) ?? null,
    receipt: async (txid) => receipts.get(txid) ?? null,
    broadcast: async (raw) => void sent.push(raw),
  }
}

function testFacilitator(): TestFacilitator {
  const facilitator: TestFacilitator = {
    objection: null,
    outcome: () => ({ outcome: 'pending' }),
    signed: [],
    verify: async () => {
      if (facilitator.objection instanceof Error) throw facilitator.objection
      return facilitator.objection
    },
    settle: async ({ payer }, _priced, { storeSigned, onSent }) => {
      const { txid } = await storeSigned(RELAYER, 0n, async (nonce) => signedAt(nonce))
      facilitator.signed.push(txid)
      onSent()
      return facilitator.outcome(txid, { payer })
    },
  }
  return facilitator
}
