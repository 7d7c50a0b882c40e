import type { PlantedBug } from './planted_bug.ts'

const advance = {
  file: 'src/domain/withdrawals/advance_withdrawal.ts',
  tests: ['src/domain/withdrawals/advance_withdrawal.test.ts'],
}
const send = {
  file: 'src/domain/withdrawals/send_withdrawals_task.ts',
  tests: ['src/domain/withdrawals/send_withdrawals_task.test.ts'],
}
const confirm = {
  file: 'src/domain/withdrawals/confirm_withdrawals_task.ts',
  tests: ['src/domain/withdrawals/confirm_withdrawals_task.test.ts'],
}
const settle = {
  file: 'src/domain/topups/settle_deposits.ts',
  tests: ['src/domain/topups/settle_deposits.test.ts'],
}
const watch = {
  file: 'src/domain/topups/watch_deposits_task.ts',
  tests: ['src/domain/topups/watch_deposits_task.test.ts'],
}
const read = {
  file: 'src/domain/topups/read_deposits.ts',
  tests: ['src/domain/topups/read_deposits.test.ts'],
}

/** Deposits and withdrawals: finality, nonces and the money of both. */
export const rails: readonly PlantedBug[] = [
  {
    ...send,
    name: 'withdrawals_kill_switch',
    find: `  if (await isKilled(db, 'withdrawals')) return\n`,
    replace: '',
    breaks: 'No withdrawal is sent while the kill switch is on.',
  },
  {
    ...send,
    name: 'withdrawal_screened_once',
    find: `if (decision === 'block') await failWithdrawal`,
    replace: `if (decision === 'review') await failWithdrawal`,
    breaks: 'A withdrawal to an address that was blocked meanwhile returns.',
  },
  {
    ...send,
    name: 'withdrawal_unguarded',
    find: 'signer: lease.guard(signer)',
    replace: 'signer',
    breaks: 'A node that lost its lease signs no withdrawal.',
    tests: ['src/domain/withdrawals/lost_lease.test.ts'],
  },
  {
    ...advance,
    name: 'nonce_not_claimed',
    find: '(await claimNonce(tx, { chain, address: sender }, nonce))',
    replace: 'nonce >= 0n',
    breaks: 'Two withdrawals never share a nonce.',
  },
  {
    ...advance,
    name: 'nonce_claimed_twice',
    file: 'src/domain/withdrawals/sender_order_store.ts',
    find: 'where o.next_nonce <= $3::bigint\n',
    replace: 'where o.next_nonce <= $3::bigint + 1\n',
    breaks: 'A nonce is claimed once.',
  },
  {
    ...advance,
    name: 'nonce_of_sweep',
    file: 'src/domain/withdrawals/advance_sweep.ts',
    find: 'if (nonce !== null && !(await claimNonce(tx, address, nonce))) {',
    replace: 'if (nonce !== null && !(await claimNonce(tx, address, nonce + 1n))) {',
    breaks: 'A sweep claims the nonce that it was signed with.',
    tests: ['src/domain/withdrawals/advance_sweep.test.ts'],
  },
  {
    ...advance,
    name: 'withdrawal_stored_for_old_attempt',
    find: `locked.step !== 'reserved' || locked.attempt !== transfer.attempt`,
    replace: `locked.step !== 'reserved'`,
    breaks: 'The bytes of an earlier attempt are never stored.',
  },
  {
    ...advance,
    name: 'withdrawal_completed_twice',
    find: `    if (locked.step !== 'signed') return
    const change = {
      status: 'completed',`,
    replace: `    if (locked.step === 'failed') return
    const change = {
      status: 'completed',`,
    breaks: 'A withdrawal completes once.',
  },
  {
    ...advance,
    name: 'withdrawal_sent_with_fee',
    find: 'to: chain_purse, amount_micros: netOf(done) }',
    replace: 'to: chain_purse, amount_micros: done.amount_micros }',
    breaks: 'The net amount of a withdrawal goes to the chain.',
  },
  {
    ...advance,
    name: 'withdrawal_fee_of_net',
    find: 'to: fees, amount_micros: done.fee_micros }',
    replace: 'to: fees, amount_micros: 0n }',
    breaks: 'The fee of a withdrawal becomes ours.',
  },
  {
    ...advance,
    name: 'withdrawal_returned_without_fee',
    find: 'to: treasury, amount_micros: failed.amount_micros }',
    replace: 'to: treasury, amount_micros: netOf(failed) }',
    breaks: 'A failed withdrawal returns in full.',
  },
  {
    ...advance,
    name: 'withdrawal_failed_twice',
    find: 'if (locked.step !== withdrawal.step || locked.attempt !== withdrawal.attempt) return',
    replace: 'if (locked.step !== withdrawal.step) return',
    breaks: 'A withdrawal does not fail while a newer attempt may be mined.',
  },
  {
    name: 'withdrawal_reserved_net',
    file: 'src/domain/withdrawals/withdraw.ts',
    find: '      to: payout,\n      amount_micros,',
    replace: '      to: payout,\n      amount_micros: amount_micros - fee_micros,',
    breaks: 'A withdrawal reserves its amount with the fee.',
    tests: ['src/domain/withdrawals/withdraw.test.ts'],
  },
  {
    ...confirm,
    name: 'withdrawal_attempts',
    find: 'withdrawal.attempt >= ATTEMPTS_MAX',
    replace: 'withdrawal.attempt > ATTEMPTS_MAX',
    breaks: 'After five dead transfers a withdrawal returns.',
    tests: ['src/domain/withdrawals/dead_transfers.test.ts'],
  },
  {
    ...confirm,
    name: 'withdrawal_reverted_completes',
    find: 'if (found.ok) await completeWithdrawal',
    replace: 'if (found.block_number > 0) await completeWithdrawal',
    breaks: 'A reverted transfer returns its money.',
  },
  {
    ...confirm,
    name: 'withdrawal_fate_of_newest',
    file: 'src/domain/withdrawals/sent_transfers.ts',
    find: 'for (const row of rows) {',
    replace: 'for (const row of rows.slice(0, 1)) {',
    breaks: 'Any attempt in a block decides the fate of a withdrawal.',
    tests: ['src/domain/withdrawals/sent_transfers.test.ts'],
  },
  {
    ...watch,
    name: 'finality_one_block_early',
    find: 'block_number <= finalized.number',
    replace: 'block_number <= finalized.number + 1',
    breaks: 'A deposit is credited when its block is final, and not before.',
    tests: ['src/domain/topups/watch_finality.test.ts'],
  },
  {
    name: 'finality_confirmations',
    file: 'src/rails/chain/deposit_source.ts',
    find: 'number - chain.confirmations + 1',
    replace: 'number - chain.confirmations + 2',
    breaks: 'A block is final after the configured confirmations.',
    tests: ['src/rails/chain/deposit_source.test.ts'],
  },
  {
    ...read,
    name: 'finality_history_changed',
    find: 'if (block?.hash !== cursor.finalized_hash) {',
    replace: 'if (block === null) {',
    breaks: 'A final block that changed stops the watcher.',
  },
  {
    ...read,
    name: 'deposit_without_receipt',
    find: 'receipt?.ok === true &&\n',
    replace: 'receipt != null &&\n',
    breaks: 'A transfer whose receipt reports a failure is not credited.',
  },
  {
    ...read,
    name: 'deposit_other_value',
    find: '  one.to === other.to &&\n  one.value === other.value',
    replace: '  one.to === other.to',
    breaks: 'A log that contradicts its receipt is not credited.',
  },
  {
    ...settle,
    name: 'deposit_credited_twice',
    find: 'update.finals.filter((deposit) => !keys.has(transferKey(deposit)))',
    replace: 'update.finals.filter((deposit) => keys.size >= 0 && deposit.value > 0n)',
    breaks: 'A deposit is credited once.',
    tests: ['src/domain/topups/watch_finality.test.ts'],
  },
  {
    ...settle,
    name: 'deposit_minimum',
    file: 'src/domain/topups/deposits.ts',
    find: 'input.counted_micros < input.minimum_micros',
    replace: 'input.counted_micros <= input.minimum_micros',
    breaks: 'A deposit of exactly the minimum is credited.',
    tests: ['src/domain/topups/deposits.test.ts'],
  },
  {
    ...settle,
    name: 'deposit_screening_review',
    file: 'src/domain/topups/deposits.ts',
    find: `if (input.screening.decision !== 'allow') return 'screening'`,
    replace: `if (input.screening.decision === 'block') return 'screening'`,
    breaks: 'A deposit under review is held.',
    tests: ['src/domain/topups/deposits.test.ts'],
  },
  {
    ...settle,
    name: 'suspense_released_in_part',
    find: '  for (const row of small) {',
    replace: '  for (const row of small.slice(0, 1)) {',
    breaks: 'All small deposits are credited with the one that reaches the minimum.',
    tests: ['src/domain/topups/suspense.test.ts'],
  },
  {
    ...settle,
    name: 'suspense_released_screening',
    find: `state === 'held' && held_reason === 'below_minimum',\n  )\n  for`,
    replace: `state === 'held' && held_reason !== null,\n  )\n  for`,
    breaks: 'A deposit held by screening is released by an operator only.',
    tests: ['src/domain/topups/suspense.test.ts'],
  },
  {
    name: 'suspense_refunded_stays',
    file: 'src/domain/topups/refund_deposit.ts',
    find: `await resolveTransfer(tx, id, { state: 'refunded', movement_id })`,
    replace: `await resolveTransfer(tx, id, { state: 'released', movement_id })`,
    breaks: 'A refunded deposit counts as refunded, not as credited.',
    tests: ['src/domain/topups/refund_deposit.test.ts'],
  },
  {
    name: 'topup_late_by_a_second',
    file: 'src/domain/topups/deposits.ts',
    find: 'block_at.getTime() + ROUNDING_MS >= closed_at.getTime()',
    replace: 'block_at.getTime() >= closed_at.getTime()',
    breaks: 'A block of the second in which a top-up closed is late.',
    tests: ['src/domain/topups/deposits.test.ts'],
  },
]
