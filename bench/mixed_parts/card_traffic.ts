import { once } from 'node:events'
import { connect } from 'node:net'
import { responseReader } from '#bench/authorizations_parts/messages.ts'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { encode, type OutgoingMessage } from '#iso8583/message.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import type { Holder } from './population.ts'

type Answer = { is_approved: boolean; code: string }
export type Link = { send(message: OutgoingMessage): Promise<Answer>; close(): void }

/** A connection of the card network; responses are matched by trace number. */
export async function openLink(port: number): Promise<Link> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const waiting = new Map<number, (answer: Answer) => void>()
  const reader = new FrameReader(default_link.frame)
  const read = responseReader()
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => {
      const { trace, ...answer } = read(body)
      waiting.get(trace)?.(answer)
      waiting.delete(trace)
    }),
  )
  return {
    send: (message) =>
      new Promise((resolve) => {
        waiting.set(Number(message.fields[11]), resolve)
        socket.write(writeFrame(default_link.frame, encode(default_link, message)))
      }),
    close: () => socket.destroy(),
  }
}

const card_kinds = ['authorization', 'capture', 'reversal', 'refund', 'decline'] as const
export type CardKind = (typeof card_kinds)[number] | 'repeat'

/** Of 100 card messages; the rest are captures. */
const WEIGHTS = { authorization: 52, reversal: 5, refund: 5, decline: 5, repeat: 1 }

/** What an account's purchases came to, so that later messages name them. */
type Purchases = { open: OutgoingMessage[]; captured: OutgoingMessage[] }

const KEPT = 20
const PURCHASE_CENTS = 2
const TOO_MANY_CENTS = 900_000_000

/** The next card message of an account. */
export function cardTraffic(holders: readonly Holder[], random: () => number) {
  const by_holder = new Map<number, Purchases>()

  return (
    at: number,
  ): { kind: CardKind; message: OutgoingMessage; done(is_approved: boolean): void } => {
    const holder = holders[at] as Holder
    const purchases = by_holder.get(at) ?? { open: [], captured: [] }
    by_holder.set(at, purchases)
    const kind = possible(drawKind(random), purchases)
    if (kind === 'authorization') {
      const message = purchaseMessage(holder, PURCHASE_CENTS)
      const done = (is_approved: boolean) => {
        if (is_approved && purchases.open.length < KEPT) purchases.open.push(message)
      }
      return { kind, message, done }
    }
    if (kind === 'decline') {
      return { kind, message: purchaseMessage(holder, TOO_MANY_CENTS), done: () => undefined }
    }
    return { kind, ...laterMessage(kind, holder, purchases) }
  }
}

function drawKind(random: () => number): CardKind {
  let dice = random() * 100
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    dice -= weight
    if (dice < 0) return kind as CardKind
  }
  return 'capture'
}

/** Without an earlier purchase, an account makes one. */
function possible(kind: CardKind, { open, captured }: Purchases): CardKind {
  if (kind === 'refund' && captured.length === 0) return 'authorization'
  const needs_open = kind === 'capture' || kind === 'reversal' || kind === 'repeat'
  return needs_open && open.length === 0 ? 'authorization' : kind
}

function laterMessage(
  kind: 'capture' | 'reversal' | 'refund' | 'repeat',
  holder: Holder,
  purchases: Purchases,
) {
  const earlier = (
    kind === 'refund' ? purchases.captured.shift() : purchases.open.shift()
  ) as OutgoingMessage
  const { 7: sent = '', 11: stan = '', 32: acquirer = '', 37: rrn } = earlier.fields
  if (kind === 'repeat') {
    const done = () => void purchases.open.push(earlier)
    return { message: { mti: '0101', fields: earlier.fields }, done }
  }
  const named = `${earlier.mti}${stan}${sent}${acquirer.padStart(11, '0')}${'0'.repeat(11)}`
  const changes = {
    capture: { mti: '0220', fields: { 37: rrn } },
    reversal: { mti: '0420', fields: { 37: rrn, 90: named } },
    refund: { mti: '0220', fields: { 3: '200000', 37: rrn } },
  }[kind]
  const done = (is_approved: boolean) => {
    if (kind === 'capture' && is_approved && purchases.captured.length < KEPT)
      purchases.captured.push(earlier)
  }
  return { message: purchaseMessage(holder, PURCHASE_CENTS, changes), done }
}
