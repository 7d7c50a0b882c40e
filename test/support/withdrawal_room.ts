import { move } from '#domain/ledger/move.ts'
import { payout, treasury } from '#domain/ledger/purse.ts'
import type { SentTransferRow } from '#domain/withdrawals/sent_transfers.ts'
import { type WithdrawalRow, withdrawalReference } from '#domain/withdrawals/withdrawal.ts'
import type { WithdrawalDependencies } from '#domain/withdrawals/withdrawal_dependencies.ts'
import { insertWithdrawal } from '#domain/withdrawals/withdrawal_store.ts'
import type { ChainSender } from '#rails/chain/sender.ts'
import type { SignOutcome } from '#rails/signer/intent.ts'
import type { MoneyRoom } from './money_room.ts'
import { WALLET } from './withdrawals.ts'

type NewWithdrawal = Partial<Parameters<typeof insertWithdrawal>[1]>

/** A withdrawal of 20 USD with a fee of 1 USD, reserved from a treasury of 100 USD. */
export async function openWithdrawal(
  { db, dependencies, openAccount }: MoneyRoom,
  fields: NewWithdrawal = {},
): Promise<WithdrawalRow> {
  const account_id = fields.account_id ?? (await openAccount(100))
  const now = dependencies.clock.now()
  const id = dependencies.newId('wd', now)
  const amount_micros = fields.amount_micros ?? 20_000_000n
  return db.transaction(async (tx) => {
    if (fields.refund_of == null) {
      const reference = withdrawalReference(id)
      const reserved = { movement: 'withdrawal_reserved', from: treasury, to: payout } as const
      const description = 'Reserved by a test.'
      const stamp = { now, newId: dependencies.newId }
      await move(tx, { ...reserved, account_id, amount_micros, reference, description }, stamp)
    }
    return insertWithdrawal(tx, {
      client_id: null,
      account_id,
      id,
      refund_of: null,
      asset: 'USDT',
      chain: 'tron',
      address: WALLET,
      amount_micros,
      fee_micros: 1_000_000n,
      step: 'reserved',
      status_reason: fields.step === 'review' ? 'review' : null,
      approval: '',
      metadata: {},
      created_at: now,
      ...fields,
    })
  })
}

let signatures = 0

export function signedRow(fields: Partial<SentTransferRow> = {}): SentTransferRow {
  signatures += 1
  return {
    attempt: 1,
    txid: signatures.toString(16).padStart(64, '0'),
    raw: 'raw',
    signature: 'signature',
    expires_at: null,
    nonce: null,
    created_at: new Date(0),
    ...fields,
  }
}

/** An outlet of the room's chain whose node gives these responses. */
export function outletOf({ chain }: MoneyRoom, responses: Partial<ChainSender> = {}): ChainSender {
  return {
    chain,
    networkParameters: async () => ({}) as never,
    replacementParameters: async () => null,
    missingFuel: async () => 0n,
    assetBalance: async () => 1_000_000_000n,
    broadcast: async () => ({ outcome: 'accepted' }),
    lookup: async () => ({ outcome: 'unknown' }),
    findNonceUser: async () => null,
    ...responses,
  }
}

/** Signs every intent with its own txid. */
export const signedOutcome = (fields: object = {}): SignOutcome => {
  signatures += 1
  const txid = signatures.toString(16).padStart(64, '0')
  const transfer = { txid, raw: 'raw', signature: 'signature', expires_at_ms: null, nonce: null }
  return { ok: true, transfer: { ...transfer, ...fields } }
}

export function withdrawalDependencies(
  room: MoneyRoom,
  parts: Partial<WithdrawalDependencies> = {},
): WithdrawalDependencies {
  return {
    ...room.dependencies,
    signer: { sign: async () => signedOutcome() },
    chain_senders: [outletOf(room)],
    ...parts,
  }
}
