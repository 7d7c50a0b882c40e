import { inspect } from 'node:util'
import { CENT } from './amounts.ts'
import { decideApproval, grantBudget } from './budgets.ts'
import * as cards from './cards.ts'
import { acceptAdvice, bookClearing, expireAuthorization, reverse } from './clearings.ts'
import type { CardMessage, Command, MoneyCommand, Outcome, OwnerCommand } from './commands.ts'
import { answerDispute, closeDispute, fileDispute } from './disputes.ts'
import { decideRequest } from './requests.ts'
import { type Card, ok, refused, type Scope, type Topup } from './state.ts'
import * as treasury from './treasury.ts'

type Of<Op extends Command['op']> = Extract<Command, { op: Op }>
type Rules = { [Op in Command['op']]: (scope: Scope, command: Of<Op>) => Outcome }

/** Applies a command to an account and returns the response that the contract demands. */
export function applyCommand(scope: Scope, command: Command): Outcome {
  const rule = rules[command.op] as (scope: Scope, command: Command) => Outcome
  if (isMessage(command)) return answerMessage(scope, command, () => rule(scope, command))
  if (scope.account.is_suspended && isOwnersCall(command)) return refused('account_suspended')
  if (isPaused(scope, command)) return refused('kill_switch_active')
  return answerCall(scope, command, () => rule(scope, command))
}

const MESSAGES: ReadonlySet<string> = new Set<CardMessage['op']>([
  ...(['authorize', 'increment', 'debit', 'verify', 'balance', 'credit'] as const),
  ...(['advise', 'advise_declined', 'capture', 'refund', 'reverse'] as const),
])
const isMessage = (command: Command): command is CardMessage => MESSAGES.has(command.op)

const OWNER_OPERATIONS: ReadonlySet<string> = new Set<Command['op']>([
  ...(['issue_card', 'load_card', 'unload_card', 'replace_card', 'set_card_limits'] as const),
  ...(['set_mcc_rules', 'set_card_geo', 'create_topup', 'cancel_topup', 'withdraw'] as const),
  ...(['file_dispute', 'freeze_card', 'unfreeze_card', 'cancel_card'] as const),
  'decide_approval',
])

/** These calls are refused before anything of them is looked up, unless they are not valid. */
function isPaused({ programme: { killed } }: Scope, command: Command): boolean {
  if (command.op === 'issue_card' && (command.load ?? 0n) % CENT !== 0n) return false
  if (command.op === 'issue_card' || command.op === 'replace_card') return killed.has('issuing')
  return command.op === 'release_transfer' && killed.has('topups')
}

/** Freezing, unfreezing and canceling are also an operator's. */
function isOwnersCall(command: Command): boolean {
  const is_operators = 'by' in command && command.by === 'admin'
  return OWNER_OPERATIONS.has(command.op) && !is_operators
}

/** Not stored under an Idempotency-Key: 403, 404, 503, and amounts that are no amounts. */
const NOT_STORED: ReadonlySet<string> = new Set([
  ...['policy_denied', 'account_suspended', 'not_found', 'kill_switch_active', 'invalid_amount'],
  'approval_required',
])

/** A call with the key of an earlier one gets its response and changes nothing. */
function answerCall({ account }: Scope, command: Command, run: () => Outcome): Outcome {
  const { idempotency_key: key } = command
  if (key === undefined) return run()
  const stored = `${command.op}|${pathId(command)}|${key}`
  const fingerprint = inspect(command)
  const known = account.answered.get(stored)
  if (known !== undefined) {
    return known.fingerprint === fingerprint ? known.outcome : refused('idempotency_key_reused')
  }
  const outcome = run()
  const isStored = outcome.result !== 'refused' || !NOT_STORED.has(outcome.code)
  if (isStored) account.answered.set(stored, { fingerprint, outcome })
  return outcome
}

/** A key counts for one operation on one resource; a call that creates one has no id yet. */
function pathId(command: Command): string {
  if (command.op === 'issue_card' || command.op === 'create_topup') return ''
  return 'card' in command ? command.card : 'topup' in command ? command.topup : ''
}

/** A repeat gets the first response and changes nothing. */
function answerMessage({ account }: Scope, message: CardMessage, decide: () => Outcome): Outcome {
  const fingerprint = fingerprintOf(message)
  const known = account.answered.get(message.message)
  if (known !== undefined) return known.fingerprint === fingerprint ? known.outcome : CONFLICT
  const outcome = decide()
  account.answered.set(message.message, { fingerprint, outcome })
  return outcome
}

const CONFLICT: Outcome = {
  ...{ result: 'declined', code: 'duplicate_conflict', failed_rules: [], is_code_right: null },
}

/** A repeat has the same kind, amount and currency. */
function fingerprintOf(message: CardMessage): string {
  if (message.op === 'reverse') return `reverse|${message.replacement}`
  const { minor, currency } = message.charge
  return `${message.op}|${minor}|${currency}`
}

const rules: Rules = {
  create_account: () => ok(),
  issue_card: cards.issueCard,
  load_card: onCard(cards.loadCard),
  unload_card: onCard(cards.unloadCard),
  grant_budget: grantBudget,
  decide_approval: decideApproval,
  freeze_card: onCard((_scope, card, { by = 'owner' }) => cards.freezeCard(card, by)),
  unfreeze_card: onCard((_scope, card, { by = 'owner' }) => cards.unfreezeCard(card, by)),
  cancel_card: onCard(cards.cancelCard),
  replace_card: onCard(cards.replaceCard),
  set_card_limits: onCard((scope, card, { limits }) => cards.setLimits(scope, card, limits)),
  set_mcc_rules: onCard((_scope, card, command) => cards.setRules(card, 'mcc', command.rules)),
  set_card_geo: onCard((_scope, card, command) => cards.setRules(card, 'geo', command.rules)),

  authorize: decideRequest,
  increment: decideRequest,
  debit: decideRequest,
  verify: decideRequest,
  balance: decideRequest,
  credit: decideRequest,
  advise: acceptAdvice,
  advise_declined: acceptAdvice,
  capture: acceptAdvice,
  refund: acceptAdvice,
  reverse,
  book_clearing: (scope, { message, micros }) => bookClearing(scope, message, micros),
  expire_authorization: expireAuthorization,

  create_topup: (scope, { topup, amount }) => treasury.createTopup(scope, topup, amount),
  cancel_topup: onTopup((scope, one) => treasury.closeTopup(scope, one, 'cancelled_by_user')),
  expire_topup: onTopup((scope, one) => treasury.closeTopup(scope, one, 'expired')),
  see_transfer: onTopup((scope, one, command) => treasury.seeTransfer(scope, one, command)),
  settle_transfer: onTopup((scope, one, command) => treasury.settleTransfer(scope, one, command)),
  lose_transfer: onTopup((_scope, one, { transfer }) => treasury.loseTransfer(one, transfer)),
  release_transfer: onTopup((scope, one, command) =>
    treasury.releaseTransfer(scope, one, command.transfer),
  ),
  withdraw: treasury.withdraw,
  broadcast_withdrawal: advance,
  complete_withdrawal: advance,
  fail_withdrawal: advance,

  file_dispute: fileDispute,
  answer_dispute: (scope, { dispute }) => answerDispute(scope, dispute),
  close_dispute: (scope, { dispute, outcome }) => closeDispute(scope, dispute, outcome),
  suspend_account: ({ account }) => setSuspended(account, true),
  reinstate_account: ({ account }) => setSuspended(account, false),
  open_challenge: ({ account }, { challenge, card, charge, merchant }) => {
    const fields = { card, charge, merchant, status: 'pending', decided_at: 0 } as const
    account.challenges.set(challenge, { ...fields, is_used: false })
    return ok()
  },
  decide_challenge: ({ account, programme }, { challenge, decision }) => {
    const found = account.challenges.get(challenge)
    if (found?.status !== 'pending') return refused('not_found')
    Object.assign(found, { status: decision, decided_at: programme.now })
    return ok()
  },
}

function setSuspended(account: Scope['account'], is_suspended: boolean): Outcome {
  account.is_suspended = is_suspended
  return ok()
}

/** 404 for a card that does not exist. */
function onCard<One extends Extract<OwnerCommand, { card: string }>>(
  rule: (scope: Scope, card: Card, command: One) => Outcome,
) {
  return (scope: Scope, command: One): Outcome => {
    const card = scope.account.cards.get(command.card)
    return card === undefined ? refused('not_found') : rule(scope, card, command)
  }
}

function onTopup<One extends Extract<MoneyCommand, { topup: string }>>(
  rule: (scope: Scope, topup: Topup, command: One) => Outcome,
) {
  return (scope: Scope, command: One): Outcome => {
    const topup = scope.account.topups.get(command.topup)
    return topup === undefined ? refused('not_found') : rule(scope, topup, command)
  }
}

type Advance = Of<'broadcast_withdrawal' | 'complete_withdrawal' | 'fail_withdrawal'>

function advance(scope: Scope, { op, withdrawal }: Advance): Outcome {
  const found = scope.account.withdrawals.get(withdrawal)
  return found === undefined ? refused('not_found') : treasury.advanceWithdrawal(scope, found, op)
}
