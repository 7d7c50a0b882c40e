import { expiryOf } from '#domain/authorizations/card_state.ts'
import type { CardRequest, Decision, StoredResponse } from '#domain/authorizations/request.ts'
import type { CardMessage, Command, Merchant, Outcome } from '#test/simulation/model/commands.ts'
import type { CoreCard } from './account_rows.ts'
import { type CoreState, rowsOf } from './core_state.ts'
import { outcomeText } from './steps.ts'

/** Commands that the engine decides in a batch. */
export type EngineCommand =
  | CardMessage
  | Extract<Command, { op: 'expire_authorization' | 'book_clearing' }>

const WRONG_EXPIRY = '0101'

/** The request of a command, as a door would build it; null if it names nothing that exists. */
export function requestOf(core: CoreState, command: EngineCommand, now: Date): CardRequest | null {
  if (command.op === 'expire_authorization') return expiryRequest(core, command, now)
  if (command.op === 'book_clearing') return bookingRequest(core, command)
  return messageRequest(core, command, now)
}

function messageRequest(core: CoreState, command: CardMessage, now: Date): CardRequest {
  const card = rowsOf(core, command.account).cards.get(command.card)
  const request: CardRequest = {
    ...blankRequest(now),
    kind: command.op,
    identity: command.message,
    fingerprint: fingerprintOf(command),
    pan_hash: card?.pan_hash ?? 'unknown',
    reference: {
      transaction_id: null,
      original_identity: command.original ?? null,
      original_prefix: null,
      retrieval_reference_number: command.rrn,
      authorization_code: codeOf(core, command),
    },
    answer: (decision) => responseOf(decision, request),
  }
  if (command.op === 'reverse') return Object.assign(request, replacementOf(command.replacement))
  Object.assign(request, { charge: { fx_rate: null, ...command.charge } })
  if ('is_final' in command) request.is_final = command.is_final ?? false
  if (command.merchant !== undefined) request.merchant = merchantOf(command.merchant)
  if ('entry_mode' in command) Object.assign(request, detailsOf(command, card))
  return request
}

const replacementOf = (replacement_minor: bigint | null) => ({ replacement_minor })

/** The door's fingerprint covers the kind, the amount and the currency. */
function fingerprintOf(command: CardMessage): string {
  if (command.op === 'reverse') return `reverse|${command.replacement}`
  return `${command.op}|${command.charge.minor}|${command.charge.currency}`
}

/** The code of the approval it names. A stand-in approval has a code of the network's. */
function codeOf(core: CoreState, { op, account, message, code_of }: CardMessage): string | null {
  const { transactions } = rowsOf(core, account)
  const row =
    code_of === undefined
      ? undefined
      : transactions.find(({ message_identity }) => message_identity === code_of)
  if (row?.type === 'authorization') return row.authorization_code
  return op === 'advise' ? `S-${message}` : null
}

type AskingCommand = Extract<CardMessage, { entry_mode: unknown }>

const merchantOf = (merchant: Merchant): CardRequest['merchant'] => ({
  merchant_name: merchant.name,
  mcc: merchant.mcc,
  merchant_city: null,
  merchant_country: merchant.country,
  merchant_id: merchant.id,
  terminal_id: null,
})

function detailsOf(command: AskingCommand, card: CoreCard | undefined): Partial<CardRequest> {
  const { entry_mode, expiry, code } = command
  const right_expiry = card === undefined ? WRONG_EXPIRY : expiryOf(card)
  return {
    entry: { entry_mode, card_present: entry_mode === 'chip', wallet: null },
    expiry: expiry === undefined ? null : expiry === 'right' ? right_expiry : WRONG_EXPIRY,
    isCodeRight: code === undefined ? null : () => code === 'right',
    has_pin: command.has_pin ?? false,
    is_type_supported: !command.is_type_unsupported,
    is_partial_ok: command.is_partial_ok ?? false,
    challenge_id: command.challenge ?? null,
  }
}

function expiryRequest(
  core: CoreState,
  { account, message, is_early }: Extract<Command, { op: 'expire_authorization' }>,
  now: Date,
): CardRequest | null {
  const { transactions, cards } = rowsOf(core, account)
  const row = transactions.find(
    (one) => one.message_identity === message && one.type === 'authorization',
  )
  const card = [...cards.values()].find(({ id }) => id === row?.card_id)
  if (row === undefined || card === undefined) return null
  const blank = blankRequest(now)
  const request: CardRequest = {
    ...blank,
    kind: 'expire',
    identity: `expiry|${row.id}`,
    pan_hash: card.pan_hash,
    reference: { ...blank.reference, transaction_id: row.id },
    is_early,
    message: null,
    answer: (decision) => responseOf(decision, request),
  }
  return request
}

/** An operator converted or approved it; as the task that books clearings builds it. */
function bookingRequest(
  core: CoreState,
  { message, micros }: { message: string; micros: bigint },
): CardRequest | null {
  const waiting = core.waiting.get(message)
  if (waiting === undefined) return null
  const { clearing } = waiting
  const request: CardRequest = {
    ...clearing.request,
    identity: `priced|${clearing.id}`,
    settles: message,
    charge: { ...clearing.request.charge, micros },
    answer: (decision) => responseOf(decision, request),
  }
  return request
}

function blankRequest(now: Date): CardRequest {
  return {
    kind: 'authorize',
    link: 'core',
    identity: '',
    fingerprint: '',
    pan_hash: '',
    charge: { minor: 0n, currency: null, micros: null, fx_rate: null },
    merchant: {
      merchant_name: 'Shop',
      mcc: '5732',
      merchant_city: null,
      merchant_country: 'US',
      merchant_id: null,
      terminal_id: null,
    },
    entry: { entry_mode: 'chip', card_present: true, wallet: null },
    expiry: null,
    isCodeRight: null,
    has_pin: false,
    is_type_supported: true,
    is_partial_ok: false,
    challenge_id: null,
    reference: {
      transaction_id: null,
      original_identity: null,
      original_prefix: null,
      retrieval_reference_number: null,
      authorization_code: null,
    },
    replacement_minor: null,
    is_final: false,
    is_early: false,
    network_transaction_id: null,
    settles: null,
    received_at: now,
    deadline_ms: Number.POSITIVE_INFINITY,
    message: { mti: '0100', raw: NO_BYTES, fields: null },
    answer: () => {
      throw new Error('no response yet')
    },
    restore: (kept_bytes) => kept_bytes,
  }
}

const NO_BYTES = new Uint8Array()

/** The bytes of a response are the outcome as text, so a repeat shows what was stored. */
function responseOf(decision: Decision, request: CardRequest): StoredResponse {
  const bytes = Buffer.from(outcomeText(outcomeOf(decision, request)))
  return { mti: '0110', fields: {}, response_code: '00', bytes, kept_bytes: bytes }
}

function outcomeOf(decision: Decision, { charge }: CardRequest): Outcome {
  const { verdict, is_code_right, part, available_micros } = decision
  switch (verdict) {
    case 'approved':
      return {
        result: 'approved',
        amount: part?.micros ?? charge.micros ?? 0n,
        ...(part !== null && { minor: part.minor }),
        is_code_right,
        ...(available_micros !== null && { available: available_micros }),
      }
    case 'declined':
      return {
        result: 'declined',
        code: decision.decline_code ?? '',
        failed_rules: decision.transaction?.failed_rules ?? [],
        is_code_right,
      }
    case 'noted':
      return { result: 'accepted' }
    default:
      return { result: verdict }
  }
}
