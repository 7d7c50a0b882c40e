/**
 * A simple model of card payments: integer cents, no database, one message after another. Written
 * from the contract, not from the engine.
 */
type Purchase = {
  rrn: string
  kind: 'authorization' | 'decline' | 'forced'
  single: boolean
  amount: number
  open: number
  held: number
  captured: number
  refunded: number
}

export type ModelCard = {
  balance: number
  held: number
  status: 'active' | 'frozen' | 'cancelled'
  daily_limit: number
  spent: number
  purchases: Map<string, Purchase>
}

export type ModelAccount = {
  treasury: number
  owed: number
  network: number
  cards: ModelCard[]
  events: number
}

export type ModelMessage =
  | { kind: 'authorize' | 'debit' | 'advise'; rrn: string; amount: number }
  | { kind: 'capture'; rrn: string; amount: number; is_final: boolean }
  | { kind: 'refund'; rrn: string; amount: number }
  | { kind: 'reverse'; rrn: string; replacement: number | null; is_advice: boolean; of: string }

export const newAccount = (treasury: number): ModelAccount => ({
  treasury,
  owed: 0,
  network: 0,
  cards: [],
  events: 0,
})

function hold(card: ModelCard, amount: number): number {
  const held = Math.min(amount, card.balance)
  card.balance -= held
  card.held += held
  return held
}

function take(account: ModelAccount, card: ModelCard, amount: number): void {
  const taken = Math.min(amount, card.balance)
  card.balance -= taken
  const by_treasury = Math.min(amount - taken, account.treasury)
  account.treasury -= by_treasury
  account.owed += amount - taken - by_treasury
  account.network += amount
}

/** Incoming money pays the debt first; the card's earlier balance is not touched. */
function give(account: ModelAccount, card: ModelCard, amount: number): void {
  const paid = Math.min(account.owed, amount)
  account.owed -= paid
  if (card.status === 'cancelled') account.treasury += amount - paid
  else card.balance += amount - paid
}

function releaseHold(
  account: ModelAccount,
  card: ModelCard,
  purchase: Purchase,
  { open, held }: { open: number; held: number },
) {
  card.spent -= purchase.open - open
  const released = purchase.held - held
  purchase.open = open
  purchase.held = held
  card.held -= released
  if (released > 0) give(account, card, released)
}

/** Applies a message and returns its expected response code. */
export function applyMessage(
  account: ModelAccount,
  card: ModelCard,
  message: ModelMessage,
  { is_reversed }: { is_reversed: boolean },
): string {
  switch (message.kind) {
    case 'authorize':
    case 'debit':
      return requestAuthorization(account, card, message, is_reversed)
    case 'advise':
      return advice(account, card, message)
    case 'capture':
      return capture(account, card, message)
    case 'refund':
      return refund(account, card, message)
    case 'reverse':
      return reversal(account, card, message)
  }
}

type AuthorizationInput = { kind: string; rrn: string; amount: number }

function requestAuthorization(
  account: ModelAccount,
  card: ModelCard,
  { kind, rrn, amount }: AuthorizationInput,
  is_reversed: boolean,
): string {
  const purchase: Purchase = {
    rrn,
    kind: 'authorization',
    single: kind === 'debit',
    amount,
    open: 0,
    held: 0,
    captured: 0,
    refunded: 0,
  }
  // A purchase that was reversed before it came leaves an earlier one with its number as it is.
  if (!is_reversed || !card.purchases.has(rrn)) card.purchases.set(rrn, purchase)
  account.events += 1
  const code = objection(account, card, amount, is_reversed)
  if (code !== null) {
    purchase.kind = 'decline'
    return code
  }
  card.spent += amount
  if (kind === 'debit') {
    account.events += 1
    purchase.captured = amount
    take(account, card, amount)
  } else {
    purchase.open = amount
    purchase.held = hold(card, amount)
  }
  return '00'
}

function objection(account: ModelAccount, card: ModelCard, amount: number, is_reversed: boolean) {
  if (is_reversed) return '94'
  if (card.status === 'cancelled') return '46'
  if (card.status === 'frozen') return '9G'
  if (card.spent + amount > card.daily_limit) return '61'
  return amount > card.balance || account.owed > 0 ? '51' : null
}

function advice(
  account: ModelAccount,
  card: ModelCard,
  { rrn, amount }: AuthorizationInput,
): string {
  const known = card.purchases.get(rrn)
  if (known?.single && known.kind === 'authorization') return '00'
  if (known?.kind === 'authorization') {
    const open = Math.max(0, amount - known.captured)
    if (open > known.open) {
      card.spent += open - known.open
      known.held += hold(card, open - known.open)
      known.open = open
    } else {
      releaseHold(account, card, known, { open, held: Math.min(known.held, open) })
    }
    known.amount = amount
    return '00'
  }
  card.spent += amount
  account.events += 1
  card.purchases.set(rrn, {
    rrn,
    kind: 'authorization',
    single: false,
    amount,
    open: amount,
    held: hold(card, amount),
    captured: 0,
    refunded: 0,
  })
  return '00'
}

type Clearing = { rrn: string; amount: number; is_final?: boolean }

function capture(account: ModelAccount, card: ModelCard, { rrn, amount, is_final }: Clearing) {
  account.events += 1
  const purchase = card.purchases.get(rrn)
  if (purchase?.kind !== 'authorization') {
    if (purchase === undefined) {
      const forced = { rrn, kind: 'forced' as const, single: false, amount, open: 0, held: 0 }
      card.purchases.set(rrn, { ...forced, captured: amount, refunded: 0 })
    }
    card.spent += amount
    take(account, card, amount)
    return '00'
  }
  const from_hold = Math.min(amount, purchase.held)
  const from_open = Math.min(amount, purchase.open)
  purchase.held -= from_hold
  card.held -= from_hold
  account.network += from_hold
  card.spent += amount - from_open
  if (amount > from_hold) take(account, card, amount - from_hold)
  purchase.open -= from_open
  purchase.captured += amount
  const held = Math.min(purchase.held, purchase.open)
  releaseHold(
    account,
    card,
    purchase,
    is_final ? { open: 0, held: 0 } : { open: purchase.open, held },
  )
  return '00'
}

function refund(account: ModelAccount, card: ModelCard, { rrn, amount }: Clearing): string {
  account.events += 1
  account.network -= amount
  const purchase = card.purchases.get(rrn)
  if (purchase !== undefined) purchase.refunded += amount
  give(account, card, amount)
  return '00'
}

type Reversal = { rrn: string; replacement: number | null; is_advice: boolean }

function reversal(account: ModelAccount, card: ModelCard, message: Reversal): string {
  const { rrn, replacement, is_advice } = message
  const purchase = card.purchases.get(rrn)
  if (purchase?.kind !== 'authorization') return '00'
  if (purchase.single) {
    // Refunds count towards the purchase's own capture first; later captures stay.
    const refunded = Math.min(purchase.refunded, purchase.amount)
    const back = purchase.amount - refunded - (replacement ?? 0)
    if (back > 0) {
      account.events += 1
      account.network -= back
      card.spent -= back
      purchase.refunded += back
      give(account, card, back)
    }
    return '00'
  }
  if (purchase.open > 0) {
    const wanted = Math.max(0, (replacement ?? 0) - purchase.captured)
    const open = Math.min(wanted, purchase.open)
    releaseHold(account, card, purchase, { open, held: Math.min(purchase.held, open) })
    return '00'
  }
  return purchase.captured > 0 && !is_advice ? '21' : '00'
}
