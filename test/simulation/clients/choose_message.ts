import type { OutgoingMessage } from '#iso8583/message.ts'
import type {
  CardMessage,
  CardRequest,
  Charge,
  EntryMode,
  Merchant,
} from '#test/simulation/model/commands.ts'
import type { Random } from '#test/simulation/random.ts'
import { wireOf } from './card_wire.ts'
import { cardOf, type Holder, keep, nameIn, type Purchase, type SentMessage } from './holder.ts'

/** A message to send next; a repeat is the same command and wire message again. */
export type NextMessage = { command: CardMessage; wire: OutgoingMessage }

type Context = { holder: Holder; random: Random; now: Date }
type Choose = (context: Context) => NextMessage | null

const MERCHANTS: readonly Merchant[] = [
  { name: 'Corner Shop', id: 'MERCHANT0000001', mcc: '5732', country: 'US' },
  { name: 'Bistro', id: 'MERCHANT0000002', mcc: '5812', country: 'FR' },
  { name: 'Autohaus', id: 'MERCHANT0000003', mcc: '5541', country: 'DE' },
  { name: 'Kombini', id: null, mcc: '5411', country: 'JP' },
]
const MODES: readonly EntryMode[] = [
  ...(['ecommerce', 'chip', 'contactless', 'swipe', 'keyed', 'credential_on_file'] as const),
]
/** Millionths of a dollar per minor unit. */
const RATES = { USD: 10_000n, EUR: 10_850n, GBP: 12_700n, JPY: 6_700n } as const
const CENT = 10_000n

/** In whole cents, as DE 6 has it. */
function chargeOf(random: Random, top_cents = 0): Charge {
  const isForeign = random.chance(15)
  const currency = isForeign ? random.pick(['EUR', 'GBP', 'JPY'] as const) : 'USD'
  const most = top_cents > 0 ? top_cents : random.chance(8) ? 60_000 : 3_000
  const minor = BigInt(random.between(1, most))
  if (isForeign && random.chance(3)) return { minor, currency, micros: null }
  const micros = ((minor * RATES[currency] + CENT / 2n) / CENT) * CENT
  return { minor, currency, micros: currency === 'USD' ? minor * CENT : micros }
}

const NOTHING: Charge = { minor: 0n, currency: 'USD', micros: 0n }

const newReference = (holder: Holder): string =>
  `R${holder.name.slice(-5).padStart(5, '0')}${String(holder.names).padStart(6, '0')}`

/** Credits and balance inquiries are told by their processing code. */
const HAS_OWN_TYPE: ReadonlySet<CardRequest['op']> = new Set(['credit', 'balance'])

function requestOf(
  { holder, random }: Context,
  op: CardRequest['op'],
  fields: Partial<CardRequest> = {},
): CardRequest {
  const entry_mode = random.chance(60) ? 'ecommerce' : random.pick(MODES)
  return {
    op,
    account: holder.name,
    card: random.pick(holder.cards).name,
    message: nameIn(holder, 'm'),
    rrn: newReference(holder),
    charge: chargeOf(random),
    merchant: random.chance(70) ? (MERCHANTS[0] as Merchant) : random.pick(MERCHANTS),
    entry_mode,
    ...(random.chance(90) && {
      expiry: random.chance(2) ? ('wrong' as const) : ('right' as const),
    }),
    ...(random.chance(20) && { code: random.chance(5) ? ('wrong' as const) : ('right' as const) }),
    ...(random.chance(1) && { has_pin: true }),
    ...(random.chance(1) && !HAS_OWN_TYPE.has(op) && { is_type_unsupported: true }),
    ...(random.chance(15) && { is_partial_ok: true }),
    ...fields,
  }
}

/** Some purchases name a challenge: mostly their own, sometimes one of another purchase. */
function challenged({ holder, random }: Context): Partial<CardRequest> {
  if (holder.challenges.length === 0 || !random.chance(15)) return {}
  const { id, card, merchant, minor: most } = random.pick(holder.challenges)
  const minor = random.chance(80) ? BigInt(random.between(1, Number(most))) : most + 1n
  return {
    ...{ challenge: id, card, entry_mode: 'ecommerce' },
    charge: { minor, currency: 'USD', micros: minor * CENT },
    merchant: random.chance(70) ? merchant : random.pick(MERCHANTS),
  }
}

type PurchaseOptions = { isSent?: boolean; fields?: Partial<CardRequest> }

function purchase(
  context: Context,
  op: CardRequest['op'],
  { isSent = true, fields = {} }: PurchaseOptions = {},
): Purchase {
  const { holder, now } = context
  const command = requestOf(context, op, fields)
  const wire = wireOf(command, { card: cardOf(holder, command.card), now })
  const made = { command, wire, isSent }
  keep(holder.purchases, made)
  return made
}

/** A message about an earlier purchase. Null while there is none. */
function follow(
  context: Context,
  make: (earlier: Purchase) => CardMessage,
  { isNamed }: { isNamed: boolean },
): NextMessage | null {
  const { holder, random, now } = context
  if (holder.purchases.length === 0) return null
  const earlier = random.pick(holder.purchases)
  const command = make(earlier)
  return {
    command,
    wire: wireOf(command, {
      card: cardOf(holder, command.card),
      now,
      original: isNamed ? earlier.wire : undefined,
      isReversalRequest: random.chance(30),
    }),
  }
}

const ofPurchase = ({ holder }: Context, { command }: Purchase) => ({
  account: holder.name,
  card: command.card,
  message: nameIn(holder, 'm'),
  rrn: command.rrn,
})

/** Mostly near the purchase's amount, in its currency. */
function shareOf({ random }: Context, { command }: Purchase): Charge {
  const { minor, currency, micros } = command.charge
  if (minor === 0n || random.chance(10)) return chargeOf(random)
  const percent = BigInt(random.pick([100, 100, 100, 50, 30, 120, 10]))
  const part = (minor * percent) / 100n
  if (part === 0n) return command.charge
  if (currency === 'USD' || micros === null) {
    return { minor: part, currency, micros: currency === 'USD' ? part * CENT : null }
  }
  const rate = RATES[(currency ?? 'USD') as keyof typeof RATES]
  return { minor: part, currency, micros: ((part * rate + CENT / 2n) / CENT) * CENT }
}

function capture(context: Context): NextMessage | null {
  const { random, holder } = context
  const isNamed = random.chance(30)
  const next = follow(
    context,
    (earlier) => ({
      op: 'capture',
      ...ofPurchase(context, earlier),
      charge: shareOf(context, earlier),
      is_final: random.chance(20),
      ...(isNamed && { original: earlier.command.message }),
    }),
    { isNamed },
  )
  if (next !== null) keep(holder.captures, next)
  return next
}

/** A merchant refunds what the holder has disputed: only one of them may pay. */
export function refundOf(
  { holder, now }: Pick<Context, 'holder' | 'now'>,
  { command: captured }: SentMessage,
): NextMessage | null {
  if (captured.op === 'reverse') return null
  const { card, rrn, charge } = captured
  const of = { account: holder.name, card, rrn, message: nameIn(holder, 'm') }
  const command: CardMessage = { op: 'refund', ...of, charge }
  return { command, wire: wireOf(command, { card: cardOf(holder, card), now }) }
}

function refund(context: Context): NextMessage | null {
  const { holder, random } = context
  if (holder.disputed.length > 0 && random.chance(30)) {
    return refundOf(context, random.pick(holder.disputed))
  }
  const isNamed = context.random.chance(30)
  return follow(
    context,
    (earlier) => ({
      op: 'refund',
      ...ofPurchase(context, earlier),
      charge: shareOf(context, earlier),
      ...(isNamed && { original: earlier.command.message }),
    }),
    { isNamed },
  )
}

function reverse(context: Context): NextMessage | null {
  const { random } = context
  const isPartial = random.chance(35)
  return follow(
    context,
    (earlier) => ({
      op: 'reverse',
      ...ofPurchase(context, earlier),
      original: earlier.command.message,
      replacement: isPartial
        ? (earlier.command.charge.minor * BigInt(random.between(10, 90))) / 100n
        : null,
    }),
    { isNamed: true },
  )
}

/** A clearing or refund without any earlier message. */
function unannounced(context: Context, op: 'capture' | 'refund'): NextMessage {
  const { holder, random, now } = context
  const common = {
    account: holder.name,
    card: random.pick(holder.cards).name,
    message: nameIn(holder, 'm'),
    rrn: newReference(holder),
    charge: chargeOf(random, 2_000),
  }
  const command: CardMessage =
    op === 'capture' ? { op, ...common, is_final: false } : { op, ...common }
  const next = { command, wire: wireOf(command, { card: cardOf(holder, command.card), now }) }
  if (op === 'capture') keep(holder.captures, next)
  return next
}

function advise(context: Context, op: 'advise' | 'advise_declined'): NextMessage {
  const { holder, random, now } = context
  const command: CardMessage = {
    op,
    account: holder.name,
    card: random.pick(holder.cards).name,
    message: nameIn(holder, 'm'),
    rrn: newReference(holder),
    charge: chargeOf(random, 2_000),
    merchant: random.pick(MERCHANTS),
  }
  return { command, wire: wireOf(command, { card: cardOf(holder, command.card), now }) }
}

/** The same message again, or with another amount, which is a conflict. */
function repeat({ holder, random }: Context): NextMessage | null {
  if (holder.sent.length === 0) return null
  const { command, wire } = random.pick(holder.sent)
  const again = { ...wire, mti: `${wire.mti.slice(0, 3)}1` }
  if (command.op === 'reverse' || random.chance(90)) return { command, wire: again }
  const minor = command.charge.minor + 1n
  const { currency, micros } = command.charge
  const charge = { minor, currency, micros: currency === 'USD' ? minor * CENT : micros }
  const fields = { ...again.fields, 4: minor.toString().padStart(12, '0') }
  return { command: { ...command, charge }, wire: { ...again, fields } }
}

/** The request that its reversal overtook. */
function late({ holder }: Context): NextMessage | null {
  const unsent = holder.purchases.find(({ isSent }) => !isSent)
  if (unsent === undefined) return null
  unsent.isSent = true
  return unsent
}

const choices = {
  authorize: (context) => purchase(context, 'authorize', { fields: challenged(context) }),
  debit: (context) => purchase(context, 'debit'),
  verify: (context) => plain(context, 'verify'),
  balance: (context) => plain(context, 'balance'),
  credit: (context) => plain(context, 'credit'),
  increment: (context) =>
    follow(
      context,
      (earlier) => ({
        ...requestOf(context, 'increment', ofPurchase(context, earlier)),
        charge: shareOf(context, earlier),
        original: earlier.command.message,
      }),
      { isNamed: true },
    ),
  capture,
  forced_capture: (context) => unannounced(context, 'capture'),
  refund,
  free_refund: (context) => unannounced(context, 'refund'),
  reverse,
  overtaken: (context) => {
    const { command, wire } = purchase(context, 'authorize', { isSent: false })
    const { holder, random, now } = context
    const reversal: CardMessage = {
      op: 'reverse',
      ...{ account: holder.name, card: command.card, message: nameIn(holder, 'm') },
      ...{ rrn: command.rrn, original: command.message, replacement: null },
    }
    const options = { card: cardOf(holder, command.card), now, original: wire }
    const isReversalRequest = random.chance(50)
    return { command: reversal, wire: wireOf(reversal, { ...options, isReversalRequest }) }
  },
  late,
  advise: (context) => advise(context, 'advise'),
  advise_declined: (context) => advise(context, 'advise_declined'),
  repeat,
} as const satisfies Record<string, Choose>

function plain(context: Context, op: 'verify' | 'balance' | 'credit'): NextMessage {
  const charge = op === 'credit' ? chargeOf(context.random) : NOTHING
  const command = requestOf(context, op, { charge })
  const card = cardOf(context.holder, command.card)
  return { command, wire: wireOf(command, { card, now: context.now }) }
}

export type MessageKind = keyof typeof choices

export const message_weights: Readonly<Record<MessageKind, number>> = {
  authorize: 40,
  debit: 5,
  verify: 2,
  balance: 2,
  credit: 2,
  increment: 6,
  capture: 16,
  forced_capture: 2,
  refund: 6,
  free_refund: 1,
  reverse: 9,
  overtaken: 2,
  late: 2,
  advise: 2,
  advise_declined: 1,
  repeat: 6,
}

/** The next card message of the account. */
export function chooseMessage(
  context: Context,
  weights: Readonly<Record<MessageKind, number>>,
): NextMessage {
  const kind = context.random.weighted(weights) ?? 'authorize'
  const next = choices[kind](context) ?? purchase(context, 'authorize')
  keep(context.holder.sent, next)
  return next
}
