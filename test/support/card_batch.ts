import type { BatchState } from '#domain/authorizations/batch_state.ts'
import type { CardState } from '#domain/authorizations/card_state.ts'
import { decide } from '#domain/authorizations/decide.ts'
import { Purchases } from '#domain/authorizations/purchases.ts'
import type { CardRequest, Decision, RequestKind } from '#domain/authorizations/request.ts'
import type { CardRow } from '#domain/cards/card.ts'
import { spendingWindow } from '#domain/cards/limits.ts'
import type { PurseRow } from '#domain/ledger/ledger_store.ts'
import { beginPosting } from '#domain/ledger/post.ts'
import { cardPurse, holdPurse, receivable, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'

export const BATCH_NOW = new Date('2031-03-04T12:00:00.000Z')
export const USD = 1_000_000n

export const new_card: CardState = {
  account_id: 'acct_1',
  id: 'card_1',
  brand: 'visa',
  status: 'active',
  last4: '1234',
  exp_month: 12,
  exp_year: 2035,
  mcc_allow: null,
  mcc_deny: null,
  geo_allow: null,
  geo_deny: null,
  usage: 'reusable',
  merchant_lock_name: null,
  merchant_lock_id: null,
  valid_until: null,
  cancel_reason: null,
  pan_hash: 'hash',
  is_suspended: false,
  limits: { per_transaction: 1_000n * USD, daily: 2_000n * USD, monthly: 3_000n * USD },
  spent: { card_id: 'card_1', day: '2031-03-04', daily: 0n, monthly: 0n },
  failed_at: [],
}

type Money = { card: bigint; treasury: bigint; owed: bigint }

export type RequestFields = Omit<Partial<CardRequest>, 'reference'> & {
  usd?: bigint
  reference?: Partial<CardRequest['reference']>
}

/** A batch in memory for one card: the real decisions and postings without a database. */
export type CardBatch = {
  state: BatchState
  card: CardState
  send(kind: RequestKind, fields?: RequestFields): Decision
  /** In dollars. */
  balances(): { card: number; held: number; treasury: number; owed: number }
  eventTypes(): string[]
}

export async function openCardBatch(
  money: Partial<Money> = {},
  fields: Partial<CardState> = {},
): Promise<CardBatch> {
  const { card: on_card = 100n * USD, treasury: in_treasury = 0n, owed = 0n } = money
  const card: CardState = { ...new_card, spent: { ...new_card.spent }, ...fields }
  const { account_id } = card
  let ids = 0
  const newId = (prefix: string) => {
    ids += 1
    return `${prefix}_${String(ids).padStart(6, '0')}`
  }
  const posting = await beginPosting({} as Tx, [], { now: BATCH_NOW, newId }, [
    purseRow(card, 'card', on_card),
    purseRow(card, 'treasury', in_treasury),
    purseRow(card, 'receivable', -owed),
  ])
  const state = newBatchState(card, posting, newId)
  const usd = (purse: { kind: string; owner_id: string }) =>
    Number(posting.balanceOf(account_id, purse as typeof treasury)) / 1e6
  return {
    state,
    card,
    send: (kind, request) => decide(state, cardRequest(card, kind, request)),
    balances: () => ({
      card: usd(cardPurse(card.id)),
      held: usd(holdPurse(card.id)),
      treasury: usd(treasury),
      owed: 0 - usd(receivable),
    }),
    eventTypes: () => state.events.map(({ event }) => event.type),
  }
}

/** A batch that has decided nothing yet. */
function newBatchState(
  card: CardState,
  posting: BatchState['posting'],
  newId: (prefix: string) => string,
): BatchState {
  return {
    now: BATCH_NOW,
    window: spendingWindow(BATCH_NOW),
    expires_at: new Date(BATCH_NOW.getTime() + 7 * 86_400_000),
    newId,
    newAuthorizationCode: () => newId('code').slice(-6),
    posting,
    cards: new Map([[card.pan_hash, card]]),
    is_paused: false,
    partial_approvals: false,
    refund_review_micros: null,
    answered: new Set(),
    early_reversals: new Set(),
    challenges: new Map(),
    purchases: new Purchases(),
    made: [],
    made_later: new Set(),
    changed: new Map(),
    events: [],
    new_early_reversals: new Set(),
    failed_cards: new Set(),
    used_challenges: [],
    pending_clearings: [],
    refunds: {
      parts: [],
      new_parts: [],
      disputes: [],
      evidence: [],
      changed_disputes: new Set(),
    },
    single_use_cards: new Map(card.usage === 'single_use' ? [[card.id, cardRow(card)]] : []),
    used_cards: [],
    locked_cards: [],
  }
}

/** The complete row of the card, as the engine loads it for a single-use card. */
function cardRow(card: CardState): CardRow {
  return {
    ...card,
    client_id: null,
    bin: '400000',
    type: 'virtual',
    name: null,
    wallet: { apple_pay: 'unsupported', google_pay: 'unsupported' },
    per_transaction_micros: null,
    daily_micros: null,
    monthly_micros: null,
    shipping: null,
    replaces: null,
    replaced_by: null,
    frozen_by: null,
    frozen_at: null,
    cancelled_at: null,
    metadata: {},
    version: 1n,
    created_at: BATCH_NOW,
    updated_at: BATCH_NOW,
  }
}

/** The transaction of a decision. */
export function transactionOf({ transaction }: Decision) {
  assert(transaction !== null, 'the decision has a transaction')
  return transaction
}

const purseRow = (
  { account_id, id }: CardState,
  kind: PurseRow['kind'],
  balance_micros: bigint,
): PurseRow => ({
  account_id,
  kind,
  owner_id: kind === 'card' ? id : '',
  balance_micros,
  held_micros: 0n,
  read_micros: balance_micros,
  moved_at: null,
  is_changed: false,
  holds_expire_at: null,
  spent_day: null,
  day_spent_micros: 0n,
  month_spent_micros: 0n,
})

let messages = 0

/** A message about the card for 10 USD, or for another amount in `usd`. */
export function cardRequest(
  card: CardState,
  kind: RequestKind,
  { usd = 10n * USD, reference, ...fields }: RequestFields = {},
): CardRequest {
  messages += 1
  return {
    kind,
    link: 'ascii',
    identity: `message ${messages}`,
    fingerprint: '',
    pan_hash: card.pan_hash,
    charge: { minor: usd / 10_000n, currency: 'USD', micros: usd, fx_rate: null },
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
      ...reference,
    },
    replacement_minor: null,
    is_final: false,
    is_early: false,
    network_transaction_id: null,
    settles: null,
    received_at: BATCH_NOW,
    deadline_ms: Number.POSITIVE_INFINITY,
    message: { mti: '0100', raw: new Uint8Array(), fields: null },
    answer: () => {
      throw new Error('decisions send no response')
    },
    restore: (bytes) => bytes,
    ...fields,
  }
}
