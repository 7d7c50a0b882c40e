import type { OutgoingMessage } from '#iso8583/message.ts'
import { purchaseMessage } from './issuer.ts'
import { pick, type Random, type StormOwner } from './mixed_storm_actors.ts'

type MakeMessage = (owner: StormOwner, random: Random) => OutgoingMessage

/** Every kind of card message with its weight. */
const messages: readonly (readonly [weight: number, make: MakeMessage])[] = [
  [40, (owner, random) => newPurchase(owner, random, '0100')],
  [4, (owner, random) => newPurchase(owner, random, '0200')],
  [4, (owner, random) => newPurchase(owner, random, '0120')],
  [3, ({ cards }, random) => purchaseMessage(pick(cards, random), 0, { fields: { 3: '310000' } })],
  [3, ({ cards }, random) => purchaseMessage(pick(cards, random), 0)],
  [3, ({ cards }, random) => purchaseMessage(pick(cards, random), cents(random), { mti: '0220' })],
  [3, ({ cards }, random) => refundOf(pick(cards, random), random, undefined)],
  [4, repeat],
  [5, increment],
  [16, (owner, random) => later(owner, random, { mti: '0220' })],
  [5, refundOfEarlier],
  [6, (owner, random) => reversal(owner, random, '0420')],
  [4, (owner, random) => reversal(owner, random, '0400')],
]
const TOTAL = messages.reduce((sum, [weight]) => sum + weight, 0)
const PURCHASES_KEPT = 200

export function nextCardMessage(owner: StormOwner, random: Random): OutgoingMessage {
  if (owner.purchases.length === 0) return newPurchase(owner, random, '0100')
  let dice = random(TOTAL)
  for (const [weight, make] of messages) {
    dice -= weight
    if (dice < 0) return make(owner, random)
  }
  throw new Error('the weights add up to their total')
}

const cents = (random: Random): number => 1 + random(random(10) === 0 ? 40_000 : 2_000)

function newPurchase(
  { cards, purchases }: StormOwner,
  random: Random,
  mti: string,
): OutgoingMessage {
  const message = purchaseMessage(pick(cards, random), cents(random), { mti })
  purchases.push(message)
  if (purchases.length > PURCHASES_KEPT) purchases.shift()
  return message
}

/** The last digit of the MTI marks a repeat; everything else stays the same. */
function repeat({ purchases }: StormOwner, random: Random): OutgoingMessage {
  const { mti, fields } = pick(purchases, random)
  return { mti: `${mti.slice(0, 3)}1`, fields }
}

type MessageOverrides = { mti?: string; fields?: Record<number, string | undefined> }

/** A message about an earlier purchase, found by its retrieval reference number. */
function later(
  { purchases }: StormOwner,
  random: Random,
  overrides: MessageOverrides,
  earlier?: OutgoingMessage,
) {
  const { 2: pan = '', 14: expiry = '', 37: rrn } = (earlier ?? pick(purchases, random)).fields
  const fields = { 37: rrn, ...overrides.fields }
  return purchaseMessage({ pan, expiry }, cents(random), { ...overrides, fields })
}

function refundOf(card: { pan: string; expiry: string }, random: Random, rrn: string | undefined) {
  const fields = { 3: '200000', ...(rrn !== undefined && { 37: rrn }) }
  return purchaseMessage(card, cents(random), { mti: '0220', fields })
}

function refundOfEarlier({ purchases }: StormOwner, random: Random): OutgoingMessage {
  const { 2: pan = '', 14: expiry = '', 37: rrn } = pick(purchases, random).fields
  return refundOf({ pan, expiry }, random, rrn)
}

/** A 0100 that names an earlier one in DE 90. */
function increment(owner: StormOwner, random: Random): OutgoingMessage {
  const earlier = pick(owner.purchases, random)
  return later(owner, random, { fields: { 90: namedBy(earlier) } }, earlier)
}

function reversal(owner: StormOwner, random: Random, mti: string): OutgoingMessage {
  const earlier = pick(owner.purchases, random)
  const fields = { 4: earlier.fields[4], 90: namedBy(earlier) }
  return later(owner, random, { mti, fields }, earlier)
}

/** DE 90 (original data elements) of a message about this one. */
function namedBy({ mti, fields }: OutgoingMessage): string {
  const { 7: sent = '', 11: stan = '', 32: acquirer = '' } = fields
  return `${mti}${stan}${sent}${acquirer.padStart(11, '0')}${'0'.repeat(11)}`
}
