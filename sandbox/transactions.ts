import type { FastifyInstance } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { Transaction } from '#contract/transactions.ts'
import type { PrintedCard, SandboxHost } from '#domain/context/surface.ts'
import { type Currency, currencyOfLetters } from '#iso8583/currencies.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { capture, type OriginalMessage, refund, reversal } from './card_network/merchant.ts'
import { amountElements, exactMinor, parseAmount } from './card_network/purchase.ts'
import {
  openCall,
  type SandboxCall,
  type SharedNetwork,
  sendToHost,
} from './card_network/sandbox_call.ts'
import { invalid, readBody } from './control.ts'
import { requireEmpty } from './topups.ts'

/** The merchant's later messages about a purchase: capture, refund, reversal, expiry. */
export function sandboxTransactions(
  app: FastifyInstance,
  host: SandboxHost,
  shared: SharedNetwork,
) {
  for (const [name, action] of Object.entries(actions)) {
    app.post(`/sandbox/v1/transactions/:id/${name}`, async (request) => {
      const call = await openCall(host, shared, request)
      const { amount, ...others } = readBody(request)
      requireEmpty(others)
      const transaction = (await call.read('get_transaction', {
        id: call.id,
      })) as unknown as Transaction
      const currency = currencyOfLetters(transaction.currency)
      if (currency === null) throw new Error('a transaction has a currency')
      const minor = amount === undefined ? null : parseAmount(amount, currency)
      return action(call, { transaction, currency, minor })
    })
  }
}

type FollowUpInput = { transaction: Transaction; currency: Currency; minor: bigint | null }
type Action = (call: SandboxCall, input: FollowUpInput) => Promise<unknown>

const actions: Record<string, Action> = {
  capture: async (call, input) => {
    requireType(input, ['authorization'])
    const { status, held_usd, amount_usd, captured_usd } = input.transaction
    // An expired purchase has no hold, but the merchant still presents the uncaptured amount.
    const open_usd = status === 'expired' ? amount_usd - captured_usd : held_usd
    const minor = input.minor ?? share(input, open_usd)
    const sending = await followUpOf(call, input, requireSome(minor, 'capture'))
    return sendAndFind(call, input, capture(call.network, sending), 'capture')
  },
  refund: async (call, input) => {
    requireType(input, ['authorization', 'capture'])
    const { captured_usd, refunded_usd } = input.transaction
    const minor = input.minor ?? share(input, captured_usd - refunded_usd)
    const sending = await followUpOf(call, input, requireSome(minor, 'refund'))
    return sendAndFind(call, input, refund(call.network, sending), 'refund')
  },
  reverse: async (call, input) => {
    requireType(input, ['authorization', 'refund'])
    const { captured_usd, held_usd } = input.transaction
    const total = share(input, captured_usd + held_usd)
    const left = input.minor === null ? null : total - input.minor
    const replacement = left === null || left <= 0n ? null : left
    const whole = exactMinor(input.transaction.amount, input.currency.decimals)
    const sending = await followUpOf(call, input, whole)
    await sendToHost(call, reversal(call.network, sending, replacement))
    return call.read('get_transaction', { id: call.id })
  },
  expire: async (call, input) => {
    requireType(input, ['authorization'])
    if (input.minor !== null) throw invalid('amount', 'is not recognized')
    await call.host.expireAuthorization(call.account_id, call.id)
    return call.read('get_transaction', { id: call.id })
  },
}

function requireType({ transaction }: FollowUpInput, types: readonly Transaction['type'][]): void {
  if (types.includes(transaction.type)) return
  const wanted = types.join(' or ')
  throw new Problem('invalid_request', `This works on ${wanted}; it is a ${transaction.type}.`, {
    status: 409,
  })
}

/** Converts a USD part of a purchase into minor units of its currency. */
function share({ transaction, currency }: FollowUpInput, usd: number): bigint {
  const whole = exactMinor(transaction.amount, currency.decimals)
  const part = microsFromUsd(Math.round(usd * 1_000_000) / 1_000_000)
  const total = microsFromUsd(transaction.amount_usd)
  return total === 0n ? 0n : (whole * part + total / 2n) / total
}

function requireSome(minor: bigint, what: string): bigint {
  if (minor > 0n) return minor
  throw new Problem('invalid_amount', `There is nothing left to ${what}: send an amount.`)
}

type FollowUp = {
  card: PrintedCard
  original: OriginalMessage
  transaction: Transaction
  amount: Record<number, string>
}

async function followUpOf(
  call: SandboxCall,
  input: FollowUpInput,
  minor: bigint,
): Promise<FollowUp> {
  const { transaction, currency } = input
  const [original, card] = await Promise.all([
    call.read('get_auth_details', { id: transaction.id }),
    call.host.cardNumberOf(call.account_id, transaction.card_id),
  ])
  const amount = amountElements(minor, currency)
  return { card, original: original as unknown as OriginalMessage, transaction, amount }
}

/** Sends the message and returns the new transaction of this type. */
async function sendAndFind(
  call: SandboxCall,
  { transaction }: FollowUpInput,
  message: OutgoingMessage,
  type: 'capture' | 'refund',
): Promise<Transaction> {
  const list = async (): Promise<Transaction[]> => {
    const { data } = await call.read('list_card_transactions', {
      id: transaction.card_id,
      type,
      limit: 100,
    })
    return data as Transaction[]
  }
  const before = new Set((await list()).map(({ id }) => id))
  await sendToHost(call, message)
  const reference = transaction.retrieval_reference_number
  const made = (await list()).find(
    ({ id, retrieval_reference_number }) =>
      !before.has(id) && retrieval_reference_number === reference,
  )
  if (made === undefined) throw nothingRecorded(call, type)
  return made
}

/** A refund above its purchase becomes a transaction only when an operator has approved it. */
function nothingRecorded({ host }: SandboxCall, type: 'capture' | 'refund'): Problem {
  if (type === 'capture' || host.settings.risk.refund_review_usd === null) {
    return new Problem('upstream_error', 'The card host recorded nothing.')
  }
  return new Problem('invalid_request', 'The refund awaits the approval of an operator.', {
    status: 409,
  })
}
