import type { FastifyInstance } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { Transaction } from '#contract/transactions.ts'
import type { PrintedCard, SandboxHost } from '#domain/context/surface.ts'
import { type Currency, currencyOfLetters } from '#iso8583/currencies.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { capture, type Earlier, refund, reversal } from './card_network/merchant.ts'
import { amountElements, exactMinor, minorIn } from './card_network/purchase.ts'
import { type Scene, sceneOf, sent, type Wires } from './card_network/scene.ts'
import { readBody } from './control.ts'
import { requireEmpty } from './topups.ts'

/** What happens to a purchase after it was asked for: the merchant's later messages. */
export function sandboxTransactions(app: FastifyInstance, world: SandboxHost, wires: Wires) {
  for (const [name, act] of Object.entries(acts)) {
    app.post(`/sandbox/v1/transactions/:id/${name}`, async (request) => {
      const scene = await sceneOf(world, wires, request)
      const { amount, ...others } = readBody(request)
      requireEmpty(others)
      const transaction = (await scene.read('get_transaction', {
        id: scene.id,
      })) as unknown as Transaction
      const currency = currencyOfLetters(transaction.currency)
      if (currency === null) throw new Error('a transaction has a currency')
      const minor = amount === undefined ? null : minorIn(amount, currency)
      return act(scene, { transaction, currency, minor })
    })
  }
}

type Asked = { transaction: Transaction; currency: Currency; minor: bigint | null }
type Act = (scene: Scene, asked: Asked) => Promise<unknown>

const acts: Record<string, Act> = {
  capture: async (scene, asked) => {
    requireType(asked, ['authorization'])
    const { status, held_usd, amount_usd, captured_usd } = asked.transaction
    // A late capture finds no hold any more; the merchant still presents what it never captured.
    const open_usd = status === 'expired' ? amount_usd - captured_usd : held_usd
    const minor = asked.minor ?? share(asked, open_usd)
    const sending = await laterOf(scene, asked, requireSome(minor, 'capture'))
    return partAfter(scene, asked, capture(scene.network, sending), 'capture')
  },
  refund: async (scene, asked) => {
    requireType(asked, ['authorization', 'capture'])
    const { captured_usd, refunded_usd } = asked.transaction
    const minor = asked.minor ?? share(asked, captured_usd - refunded_usd)
    const sending = await laterOf(scene, asked, requireSome(minor, 'refund'))
    return partAfter(scene, asked, refund(scene.network, sending), 'refund')
  },
  reverse: async (scene, asked) => {
    requireType(asked, ['authorization', 'refund'])
    const { captured_usd, held_usd } = asked.transaction
    const total = share(asked, captured_usd + held_usd)
    const left = asked.minor === null ? null : total - asked.minor
    const replacement = left === null || left <= 0n ? null : left
    const whole = exactMinor(asked.transaction.amount, asked.currency.decimals)
    const sending = await laterOf(scene, asked, whole)
    await sent(scene, reversal(scene.network, sending, replacement))
    return scene.read('get_transaction', { id: scene.id })
  },
  expire: async (scene, asked) => {
    requireType(asked, ['authorization'])
    await scene.world.expireAuthorization(scene.account_id, scene.id)
    return scene.read('get_transaction', { id: scene.id })
  },
}

function requireType({ transaction }: Asked, types: readonly Transaction['type'][]): void {
  if (types.includes(transaction.type)) return
  const wanted = types.join(' or ')
  throw new Problem('invalid_request', `This works on ${wanted}; it is a ${transaction.type}.`, {
    status: 409,
  })
}

/** Dollars of a purchase, in the smallest unit of its own currency. */
function share({ transaction, currency }: Asked, usd: number): bigint {
  const whole = exactMinor(transaction.amount, currency.decimals)
  const part = microsFromUsd(Math.round(usd * 1_000_000) / 1_000_000)
  const total = microsFromUsd(transaction.amount_usd)
  return total === 0n ? 0n : (whole * part + total / 2n) / total
}

function requireSome(minor: bigint, what: string): bigint {
  if (minor > 0n) return minor
  throw new Problem('invalid_amount', `There is nothing left to ${what}: send an amount.`)
}

type Later = {
  card: PrintedCard
  earlier: Earlier
  transaction: Transaction
  amount: Record<number, string>
}

async function laterOf(scene: Scene, asked: Asked, minor: bigint): Promise<Later> {
  const { transaction, currency } = asked
  const [earlier, card] = await Promise.all([
    scene.read('get_auth_details', { id: transaction.id }),
    scene.world.cardNumberOf(scene.account_id, transaction.card_id),
  ])
  const amount = amountElements(minor, currency)
  return { card, earlier: earlier as unknown as Earlier, transaction, amount }
}

/** The new part of the purchase: the newest of its type that was not there before. */
async function partAfter(
  scene: Scene,
  { transaction }: Asked,
  message: OutgoingMessage,
  type: 'capture' | 'refund',
): Promise<Transaction> {
  const list = async (): Promise<Transaction[]> => {
    const { data } = await scene.read('list_card_transactions', {
      id: transaction.card_id,
      type,
      limit: 100,
    })
    return data as Transaction[]
  }
  const before = new Set((await list()).map(({ id }) => id))
  await sent(scene, message)
  const reference = transaction.retrieval_reference_number
  const made = (await list()).find(
    ({ id, retrieval_reference_number }) =>
      !before.has(id) && retrieval_reference_number === reference,
  )
  if (made === undefined) throw new Problem('upstream_error', 'The card host recorded nothing.')
  return made
}
