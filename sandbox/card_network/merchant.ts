import type { Transaction } from '#contract/transactions.ts'
import type { PrintedCard } from '#domain/context/surface.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { writeOriginalDataElements, writeReplacementAmounts } from '#iso8583/subfields.ts'
import { writePrivateTags } from '#iso8583/tags.ts'
import type { CardNetwork } from '#sandbox/card_network.ts'
import { amountElements, merchantElements, type Purchase } from './purchase.ts'

/** A simulated merchant and its acquirer: builds their messages and keeps no state. */
const ACQUIRER = '400001'

/** The elements of the original message, as get_auth_details returns them. */
export type OriginalMessage = { mti: string; fields: Readonly<Record<string, string>> }

const RRN_DIGITS = 12

export function newReference(below: (limit: number) => number): string {
  return Array.from({ length: RRN_DIGITS }, () => below(10)).join('')
}

function cardElements({ pan, exp_year, exp_month }: PrintedCard): Record<number, string> {
  const year = String(exp_year % 100).padStart(2, '0')
  return { 2: pan.open(), 14: year + String(exp_month).padStart(2, '0') }
}

type Sale = { card: PrintedCard; purchase: Purchase; reference: string }

/** E-commerce and keyed authorizations include the CVV. */
export function authorization(
  network: CardNetwork,
  { card, purchase, reference }: Sale,
  challenge_id: string | null,
): OutgoingMessage {
  const isTyped = purchase.entry_mode === 'ecommerce' || purchase.entry_mode === 'keyed'
  const code = purchase.cvv ?? (isTyped ? card.cvv.open() : null)
  const tags = [
    ...(challenge_id === null ? [] : [{ tag: '43', value: challenge_id }]),
    ...(code === null ? [] : [{ tag: '92', value: code }]),
  ]
  return {
    mti: '0100',
    fields: {
      ...saleElements(network, { card, purchase, reference }),
      ...(tags.length > 0 && { 48: writePrivateTags(tags) }),
    },
  }
}

function saleElements(network: CardNetwork, { card, purchase, reference }: Sale) {
  return {
    ...cardElements(card),
    3: '000000',
    ...amountElements(purchase.amount_minor, purchase.currency),
    ...network.stamp(),
    ...merchantElements(purchase),
    32: ACQUIRER,
    37: reference,
  }
}

/** A clearing without an authorization. */
export function forcedCapture(network: CardNetwork, sale: Sale): OutgoingMessage {
  return { mti: '0220', fields: saleElements(network, sale) }
}

/** A clearing in the merchant's currency alone: the network sends no USD amount and no rate. */
export function unconvertedCapture(network: CardNetwork, sale: Sale): OutgoingMessage {
  const { mti, fields } = forcedCapture(network, sale)
  const { 6: _amount, 10: _rate, 51: _currency, ...unconverted } = fields
  return { mti, fields: unconverted }
}

/** A refund that names no purchase. */
export function unreferencedRefund(network: CardNetwork, sale: Sale): OutgoingMessage {
  return { mti: '0220', fields: { ...saleElements(network, sale), 3: '200000' } }
}

type FollowUp = {
  card: PrintedCard
  original: OriginalMessage
  transaction: Transaction
  amount: Record<number, string>
}

/** The elements of a follow-up message, most of them from the original. */
function followUpElements(network: CardNetwork, { card, original, transaction, amount }: FollowUp) {
  const repeated: Record<number, string> = {}
  for (const element of [18, 19, 22, 25, 32, 37, 41, 42, 43] as const) {
    const value = original.fields[element]
    if (value !== undefined) repeated[element] = value
  }
  const code = transaction.authorization_code
  return {
    ...cardElements(card),
    3: '000000',
    ...repeated,
    ...amount,
    ...network.stamp(),
    ...(code !== null && { 38: code }),
  }
}

export function capture(network: CardNetwork, follow_up: FollowUp): OutgoingMessage {
  return { mti: '0220', fields: followUpElements(network, follow_up) }
}

export function refund(network: CardNetwork, follow_up: FollowUp): OutgoingMessage {
  const fields = {
    ...followUpElements(network, follow_up),
    3: '200000',
    90: originalOf(follow_up.original),
  }
  return { mti: '0220', fields }
}

/** A full reversal, or a partial one with the replacement amount. */
export function reversal(
  network: CardNetwork,
  follow_up: FollowUp,
  replacement_minor: bigint | null,
): OutgoingMessage {
  const fields: Record<number, string> = {
    ...followUpElements(network, follow_up),
    90: originalOf(follow_up.original),
  }
  if (replacement_minor !== null) {
    fields[95] = writeReplacementAmounts({
      transaction_amount: replacement_minor.toString(),
      settlement_amount: '0',
      transaction_fee: '0',
      settlement_fee: '0',
    })
  }
  return { mti: '0420', fields }
}

export function originalOf({ mti, fields }: OriginalMessage): string {
  return writeOriginalDataElements({
    mti,
    stan: fields['11'] ?? '0',
    transmission_time: fields['7'] ?? '0',
    acquirer: fields['32'] ?? '0',
    forwarder: '0',
  })
}
