import { running_chain } from '#domain/audit/running_chain.ts'
import { hold_proofs } from '#domain/authorizations/hold_proofs.ts'
import { purchase_proofs } from '#domain/authorizations/purchase_proofs.ts'
import { attempt_proofs, spending_proofs } from '#domain/authorizations/spending_proofs.ts'
import { usage_proofs } from '#domain/authorizations/usage_proofs.ts'
import { budget_proofs } from '#domain/budgets/budget_proofs.ts'
import { card_proofs } from '#domain/cards/card_proofs.ts'
import type { Proof, RunningProof } from '#domain/context/proof.ts'
import { dispute_proofs } from '#domain/disputes/dispute_proofs.ts'
import { event_proofs } from '#domain/events/event_proofs.ts'
import { running_sequences } from '#domain/events/running_sequences.ts'
import { ledger_proofs } from '#domain/ledger/ledger_proofs.ts'
import { running_balances } from '#domain/ledger/running_balances.ts'
import { payment_proofs } from '#domain/paid_calls/payment_proofs.ts'
import { velocity_proofs } from '#domain/risk/velocity_proofs.ts'
import { topup_proofs } from '#domain/topups/topup_proofs.ts'
import { delivery_proofs } from '#domain/webhooks/delivery_proofs.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import { withdrawal_proofs } from '#domain/withdrawals/withdrawal_proofs.ts'

/** Every room's proofs, each in the room that owns its tables. */
export const proofs: readonly Proof[] = [
  ...ledger_proofs,
  ...event_proofs,
  ...velocity_proofs,
  ...payment_proofs,
  ...topup_proofs,
  ...budget_proofs,
  ...withdrawal_proofs,
  ...chain_proofs,
  ...card_proofs,
  ...dispute_proofs,
  ...purchase_proofs,
  ...usage_proofs,
  ...hold_proofs,
  ...spending_proofs,
  ...attempt_proofs,
  ...delivery_proofs,
]

export const running_proofs: readonly RunningProof[] = [
  running_balances as RunningProof,
  running_sequences as RunningProof,
  running_chain as RunningProof,
]

const namesOf = (scopes: readonly Proof['scope'][]): string[] =>
  proofs.filter(({ scope }) => scopes.includes(scope)).map(({ name }) => name)

/** The proofs that run on one account. */
export const account_proof_names: readonly string[] = [
  ...running_proofs.map(({ name }) => name),
  ...namesOf(['slice', 'account']),
]
export const range_proof_names: readonly string[] = namesOf(['range'])
export const program_proof_names: readonly string[] = namesOf(['program'])
export const proof_names: readonly string[] = [
  ...account_proof_names,
  ...range_proof_names,
  ...program_proof_names,
]
