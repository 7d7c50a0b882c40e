import { CENT, type Micros } from '#test/simulation/model/amounts.ts'
import type {
  CardAdvice,
  CardMessage,
  CardRequest,
  CardReversal,
  Charge,
  Merchant,
} from '#test/simulation/model/commands.ts'
import type { Card, Row } from '#test/simulation/model/state.ts'
import { cardView } from '#test/simulation/model/view.ts'
import { type DrawContext, MERCHANT_NAMES } from './draw_calls.ts'

const REQUESTS = {
  authorize: 40,
  increment: 12,
  debit: 8,
  verify: 2,
  balance: 2,
  credit: 1,
} as const
const OTHERS = { advise: 5, advise_declined: 1, capture: 22, refund: 10, reverse: 14 } as const

const MESSAGES = { ...REQUESTS, ...OTHERS }

export function drawMessage(drawing: DrawContext): CardMessage {
  const op = drawing.choices.weighted(MESSAGES)
  const card = drawCard(drawing)
  if (op === 'reverse') return drawReversal(drawing, card)
  if (op in REQUESTS) return drawRequest(drawing, card, op as keyof typeof REQUESTS)
  return drawAdvice(drawing, card, op as CardAdvice['op'])
}

/** Mostly the newest cards; rarely one that does not exist. */
function drawCard({ choices, state }: DrawContext): Card | null {
  if (choices.percent(1)) return null
  const cards = [...state.cards.values()]
  const live = cards.filter(({ status }) => status === 'active')
  const some = choices.percent(75) && live.length > 0 ? live : cards
  return choices.pick(some) ?? null
}

const nameOf = (card: Card | null): string => card?.name ?? 'ghost'

/** Few dollars, or an amount at one of the boundaries. */
function drawAmount({ choices, now, limits }: DrawContext, card: Card | null): Micros {
  const some = BigInt(1 + choices.below(6_000)) * CENT
  if (card === null || choices.percent(65)) return some
  const spent = cardView(card, now)
  const boundary = choices.of(
    card.balance,
    card.held,
    card.limits.per_transaction ?? limits.per_transaction_max,
    (card.limits.daily ?? limits.daily_max) - spent.spent_daily,
    (card.limits.monthly ?? limits.monthly_max) - spent.spent_monthly,
  )
  const near = (boundary / CENT) * CENT + choices.of(-CENT, 0n, CENT)
  return near > 0n ? near : some
}

/** USD, another currency with its amount in USD, or an amount that cannot be known. */
function drawCharge(drawing: DrawContext, card: Card | null): Charge {
  const { choices } = drawing
  const micros = drawAmount(drawing, card)
  const kind = choices.weighted({ usd: 80, foreign: 16, unknown: 1, none: 2, zero: 1 })
  switch (kind) {
    case 'usd':
      return { minor: micros / CENT, currency: 'USD', micros }
    case 'foreign':
      return {
        minor: BigInt(1 + choices.below(900_000)),
        currency: choices.of('EUR', 'JPY'),
        micros,
      }
    case 'unknown':
      return { minor: micros / CENT, currency: null, micros }
    case 'none':
      return { minor: micros / CENT, currency: 'EUR', micros: null }
    case 'zero':
      return { minor: 0n, currency: 'USD', micros: 0n }
  }
}

function drawMerchant({ choices }: DrawContext): Merchant {
  const { name, id } = choices.of(...MERCHANT_NAMES)
  return {
    name,
    id,
    mcc: choices.of('5732', '5411', '5812', '7995'),
    country: choices.of<string | null>('US', 'US', 'DE', 'RU', null),
  }
}

function drawRequest(drawing: DrawContext, card: Card | null, op: CardRequest['op']): CardRequest {
  const { choices, account, state } = drawing
  const message = drawing.name('m')
  const purchase = op === 'increment' ? drawPurchase(drawing, card) : null
  const reused = choices.percent(6) ? choices.pick(state.rows.slice(-10))?.rrn : undefined
  const code = choices.weighted({ none: 85, right: 8, wrong: 7 })
  const expiry = choices.weighted({ none: 90, right: 6, wrong: 4 })
  const challenge = choices.percent(8) ? choices.pick([...state.challenges.keys()]) : undefined
  return {
    op,
    account,
    card: nameOf(card),
    message,
    charge: drawCharge(drawing, card),
    rrn: reused ?? `r${message}`,
    ...(purchase !== null && referenceTo(drawing, purchase)),
    merchant: drawMerchant(drawing),
    entry_mode: choices.of('chip', 'chip', 'contactless', 'ecommerce', 'keyed'),
    ...(code !== 'none' && { code }),
    ...(expiry !== 'none' && { expiry }),
    ...(challenge !== undefined && { challenge }),
    ...(choices.percent(1) && { has_pin: true }),
    ...(choices.percent(1) && { is_type_unsupported: true }),
    ...(choices.percent(30) && { is_partial_ok: true }),
  } as CardRequest
}

function drawAdvice(drawing: DrawContext, card: Card | null, op: CardAdvice['op']): CardAdvice {
  const { choices, account } = drawing
  const message = drawing.name('m')
  const purchase = drawPurchase(drawing, card)
  const charge = drawCharge(drawing, card)
  if (purchase !== null && choices.percent(50)) fitTo(drawing, purchase, charge)
  return {
    op,
    account,
    card: nameOf(card),
    message,
    rrn: `r${message}`,
    charge,
    ...(op === 'advise' && { merchant: drawMerchant(drawing) }),
    ...(purchase !== null && referenceTo(drawing, purchase)),
    ...(choices.percent(40) && { is_final: true }),
  }
}

/** The exact amount of a purchase, in its currency, sometimes without the amount in USD. */
function fitTo({ choices }: DrawContext, purchase: Row, charge: Charge): void {
  Object.assign(charge, {
    minor: purchase.minor,
    currency: purchase.currency,
    micros: choices.percent(80) ? purchase.amount : null,
  })
}

function drawReversal(drawing: DrawContext, card: Card | null): CardReversal {
  const { choices, account } = drawing
  const purchase = drawPurchase(drawing, card)
  const most = Number(purchase?.minor ?? 1n) + 2
  return {
    op: 'reverse',
    account,
    card: nameOf(card),
    message: drawing.name('m'),
    rrn: null,
    ...(purchase !== null && referenceTo(drawing, purchase)),
    original: purchase?.message ?? drawing.name('never'),
    replacement: choices.percent(40) ? BigInt(choices.below(most)) : null,
  }
}

/** A transaction of the card, mostly one of the last. */
function drawPurchase({ choices, state }: DrawContext, card: Card | null): Row | null {
  if (card === null || choices.percent(6)) return null
  const rows = state.rows.filter((row) => row.card === card.name)
  const open = rows.filter((row) => row.open > 0n)
  if (open.length > 0 && choices.percent(50)) return choices.pick(open) ?? null
  return choices.pick(choices.percent(80) ? rows.slice(-6) : rows) ?? null
}

/** By reference number, message, approval code, or several of them. */
function referenceTo({ choices }: DrawContext, { rrn, message }: Row) {
  switch (choices.weighted({ number: 40, message: 15, code: 10, all: 25, lost: 4 })) {
    case 'number':
      return { rrn }
    case 'message':
      return { rrn: null, original: message }
    case 'code':
      return { rrn: null, code_of: message }
    case 'all':
      return { rrn, original: message, code_of: message }
    case 'lost':
      return { rrn: null }
  }
}

/** Requests and clearings may be overtaken. */
export const isDelayable = ({ op }: CardMessage): boolean =>
  op === 'authorize' || op === 'increment' || op === 'debit' || op === 'refund' || op === 'capture'
