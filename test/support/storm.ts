import assert from 'node:assert/strict'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type OutgoingMessage } from '#iso8583/message.ts'
import {
  type BareCard,
  type Issuer,
  insertBareCard,
  insertCardEvent,
  purchaseMessage,
} from './issuer.ts'
import { assertBooksSound } from './money.ts'
import { assertDecided } from './on_time.ts'
import {
  applyMessage,
  type ModelAccount,
  type ModelCard,
  type ModelMessage,
  newAccount,
} from './spending_model.ts'

/** Mulberry32, so a run can be repeated from its seed. */
export function seeded(seed: number): (limit: number) => number {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

type SentMessage = { body: Uint8Array; code: string; at: number }
type Original = { message: OutgoingMessage; model_message: ModelMessage }

/** The messages of one account, their expected response codes and the expected outcome. */
type Storm = {
  account_id: string
  cards: BareCard[]
  model: ModelAccount
  sent: SentMessage[]
}

const DAILY_LIMIT = 60_000

/**
 * A random sequence of messages for the cards of one account, with repeats and reordering. Messages
 * of two cards stay in order only if the engine has one lane.
 */
async function makeStorm(
  issuer: Issuer,
  seed: number,
  { length, card_count }: { length: number; card_count: 1 | 2 },
): Promise<Storm> {
  const below = seeded(seed)
  const model = newAccount(below(4) === 0 ? 20_000 : 0)
  const cards: BareCard[] = []
  for (const usd of [100 + below(400), 20 + below(50)].slice(0, card_count)) {
    const account_id = cards[0]?.account_id
    const owner = account_id === undefined ? {} : { account_id }
    const treasury_usd = account_id === undefined ? model.treasury / 100 : 0
    const card = await insertBareCard(issuer, { ...owner, usd, treasury_usd })
    await issuer.db.run('update cards set daily_micros = $2 where id = $1', [
      card.id,
      BigInt(DAILY_LIMIT) * 10_000n,
    ])
    cards.push(card)
    const money = { balance: usd * 100, held: 0, spent: 0 }
    const purchases = new Map()
    model.cards.push({ ...money, status: 'active', daily_limit: DAILY_LIMIT, purchases })
  }
  if (below(6) === 0) await freeze(issuer, { card: cards.at(-1), model: model.cards.at(-1) })
  const storm: Storm = { account_id: cards[0]?.account_id ?? '', cards, model, sent: [] }
  const script = new Script(storm, below, issuer.clock.now())
  for (let step = 0; step < length; step += 1) script.step()
  return storm
}

async function freeze(
  issuer: Issuer,
  { card, model }: { card: BareCard | undefined; model: ModelCard | undefined },
): Promise<void> {
  assert(card !== undefined && model !== undefined)
  model.status = 'frozen'
  const now = issuer.clock.now()
  await issuer.db.run(
    `update cards set status = 'frozen', frozen_at = $2, frozen_by = 'owner' where id = $1`,
    [card.id, now],
  )
  await insertCardEvent(issuer.db, card, { type: 'card.frozen', now })
}

class Script {
  readonly #originals: Original[][] = [[], []]
  readonly #reversed = new Set<string>()
  readonly #declined = new Set<string>()
  /** The messages that were sent, as element 90 begins. */
  readonly #named = new Set<string>()
  readonly #unsent: (() => void)[] = []
  readonly #storm: Storm
  readonly #below: (limit: number) => number
  readonly #now: Date

  constructor(storm: Storm, below: (limit: number) => number, now: Date) {
    this.#storm = storm
    this.#below = below
    this.#now = now
  }

  step(): void {
    const at = this.#below(3) === 0 ? this.#storm.cards.length - 1 : 0
    const dice = this.#below(100)
    if (dice < 15 && this.#storm.sent.length > 0) this.#repeat()
    else if (dice < 20 && this.#unsent.length > 0) this.#unsent.shift()?.()
    else if (dice < 50) this.#ask(at)
    else if (dice < 54) this.#overtake(at)
    else if (dice < 72) this.#capture(at)
    else if (dice < 82) this.#refund(at)
    else this.#reverse(at)
  }

  /** Sends the same bytes again: nothing may change, and the response is the first one. */
  #repeat(): void {
    const { sent } = this.#storm
    const again = sent[this.#below(sent.length)]
    assert(again !== undefined)
    sent.push(again)
  }

  #cents(): number {
    return 1 + this.#below(this.#below(8) === 0 ? 20_000 : 4_000)
  }

  #ask(at: number): void {
    const kind = (['authorize', 'authorize', 'authorize', 'debit', 'advise'] as const)[
      this.#below(5)
    ]
    assert(kind !== undefined)
    const mti = kind === 'debit' ? '0200' : kind === 'advise' ? '0120' : '0100'
    const amount = this.#cents()
    // An advice for a known purchase corrects its amount.
    const rrn = kind === 'advise' ? this.#original(at)?.model_message.rrn : undefined
    const fields = rrn === undefined ? {} : { 37: rrn }
    const message = this.#message(at, amount, { mti, fields })
    this.#send(at, message, { kind, rrn: message.fields[37] ?? '', amount })
  }

  /**
   * Sends the reversal first and the message it reverses later: a new purchase, or one that has the
   * number of an earlier one, which must stay as it is.
   */
  #overtake(at: number): void {
    const amount = this.#cents()
    const earlier = this.#below(2) === 0 ? this.#original(at)?.model_message.rrn : undefined
    const fields = earlier === undefined ? {} : { 37: earlier }
    const purchase = this.#message(at, amount, { fields })
    const rrn = purchase.fields[37] ?? ''
    this.#sendReversal(at, { message: purchase, model_message: { kind: 'authorize', rrn, amount } })
    this.#unsent.push(() => this.#send(at, purchase, { kind: 'authorize', rrn, amount }))
  }

  /** A known purchase, or null. */
  #original(at: number): Original | null {
    const known = this.#originals[at] ?? []
    return this.#below(8) === 0 ? null : (known[this.#below(Math.max(1, known.length))] ?? null)
  }

  #capture(at: number): void {
    const original = this.#original(at)
    const whole =
      original?.model_message.kind === 'reverse' ? 0 : (original?.model_message.amount ?? 0)
    const amount = this.#below(2) === 0 && whole > 0 ? whole : this.#cents()
    const is_final = this.#below(6) === 0
    const rrn = original?.model_message.rrn
    const message = this.#message(at, amount, {
      mti: '0220',
      fields: { ...(rrn !== undefined && { 37: rrn }), ...(is_final && { 48: '44011' }) },
    })
    this.#send(at, message, { kind: 'capture', rrn: message.fields[37] ?? '', amount, is_final })
  }

  #refund(at: number): void {
    const amount = this.#cents()
    const rrn = this.#original(at)?.model_message.rrn
    const fields = { 3: '200000', ...(rrn !== undefined && { 37: rrn }) }
    const message = this.#message(at, amount, { mti: '0220', fields })
    this.#send(at, message, { kind: 'refund', rrn: message.fields[37] ?? '', amount })
  }

  #reverse(at: number): void {
    const amount = this.#cents()
    const never = this.#message(at, amount, {})
    const rrn = never.fields[37] ?? ''
    const unknown: Original = { message: never, model_message: { kind: 'authorize', rrn, amount } }
    const original = this.#original(at)
    const isReversible = original !== null && original.model_message.kind !== 'capture'
    this.#sendReversal(at, isReversible ? original : unknown)
  }

  #sendReversal(at: number, { message: original, model_message }: Original): void {
    const { 7: sent = '', 11: stan = '', 32: acquirer = '', 37: rrn } = original.fields
    const named = `${original.mti}${stan}${sent}${acquirer.padStart(11, '0')}${'0'.repeat(11)}`
    const amount = model_message.kind === 'reverse' ? 0 : model_message.amount
    const is_advice = this.#below(2) === 0
    const replacement = this.#below(3) === 0 ? this.#below(amount + 1) : null
    const de95 = `${String(replacement ?? 0).padStart(12, '0')}${'0'.repeat(30)}`
    const message = this.#message(at, amount, {
      mti: is_advice ? '0420' : '0400',
      fields: { 37: rrn, 90: named, ...(replacement !== null && { 95: de95 }) },
    })
    const reversal = { kind: 'reverse' as const, replacement, is_advice, of: named }
    this.#send(at, message, { ...reversal, rrn: model_message.rrn })
  }

  #message(
    at: number,
    amount: number,
    given: { mti?: string; fields?: Record<number, string | undefined> },
  ): OutgoingMessage {
    const card = this.#storm.cards[at]
    assert(card !== undefined)
    return purchaseMessage(card, amount, { ...given, now: this.#now })
  }

  #send(at: number, message: OutgoingMessage, model_message: ModelMessage): void {
    const { model, sent } = this.#storm
    const card = model.cards[at]
    assert(card !== undefined)
    const { 7: moment, 11: stan } = message.fields
    const own = `${message.mti}${stan}${moment}`
    const is_reversed = [...this.#reversed].some((named) => named.startsWith(own))
    const isUnknown =
      model_message.kind === 'reverse' && !this.#named.has(model_message.of.slice(0, NAME_LENGTH))
    // A reversal that names a declined message refers to it, even if others share its reference.
    const isOfDecline =
      model_message.kind === 'reverse' && this.#declined.has(model_message.of.slice(0, NAME_LENGTH))
    const code = isUnknown
      ? unknownOriginal(model_message)
      : isOfDecline
        ? '00'
        : applyMessage(model, card, model_message, { is_reversed })
    this.#named.add(own)
    if ((model_message.kind === 'authorize' || model_message.kind === 'debit') && code !== '00') {
      this.#declined.add(own)
    }
    if (isUnknown && model_message.kind === 'reverse') this.#reversed.add(model_message.of)
    if (model_message.kind !== 'reverse' && model_message.kind !== 'refund') {
      this.#originals[at]?.push({ message, model_message })
    }
    sent.push({ body: encode(default_link, message), code, at })
  }
}

/** MTI, trace number and time: how element 90 begins. */
const NAME_LENGTH = 20

const unknownOriginal = ({ is_advice }: { is_advice: boolean }) => (is_advice ? '00' : '25')

/** Runs storms in parallel, each against its own model, and proves the books at the end. */
export async function runStorms(
  issuer: Issuer,
  { seed, rounds, side_by_side, card_count }: StormOptions,
): Promise<void> {
  for (let round = 0; round < rounds; round += side_by_side) {
    const storms = await Promise.all(
      Array.from({ length: side_by_side }, (_, at) =>
        makeStorm(issuer, seed + round + at, { length: LENGTH, card_count }),
      ),
    )
    await Promise.all(storms.map((storm) => sendStorm(issuer, storm)))
    for (const storm of storms) await assertMatchesModel(issuer, storm)
  }
  await assertBooksSound(issuer.db, issuer.clock.now())
}

export type StormOptions = { seed: number; rounds: number; side_by_side: number; card_count: 1 | 2 }

const LENGTH = 30

/** Sends all messages without waiting; asserts their response codes and identical repeats. */
async function sendStorm(issuer: Issuer, { sent }: Storm): Promise<void> {
  const answers = await Promise.all(sent.map(({ body }) => issuer.askBytes(body)))
  const first = new Map<Uint8Array, string>()
  for (const [index, { body, code }] of sent.entries()) {
    const bytes = answers[index]
    assert(bytes instanceof Uint8Array, `message ${index} has a response`)
    const said = decode(default_link, bytes).fields[39]
    const { mti } = decode(default_link, body)
    if (code !== '91') assertDecided(said, `message ${index}, ${mti},`)
    assert.equal(said, code, `message ${index}, ${mti}, is answered ${code}`)
    const hex = Buffer.from(bytes).toString('hex')
    assert.equal(hex, first.get(body) ?? hex, 'a repeat gets the first response')
    first.set(body, hex)
  }
}

async function assertMatchesModel(issuer: Issuer, storm: Storm): Promise<void> {
  const { account_id, cards, model } = storm
  type Found = { kind: string; owner_id: string; cents: bigint; held: bigint; spent: bigint }
  const rows = await issuer.db.rows<Found>(
    `select kind, owner_id, balance_micros / 10000 as cents, held_micros / 10000 as held,
            day_spent_micros / 10000 as spent
       from purses where account_id = $1`,
    [account_id],
  )
  const inPurse = (kind: string, owner_id: string, column: 'cents' | 'held' | 'spent') =>
    Number(rows.find((row) => row.kind === kind && row.owner_id === owner_id)?.[column] ?? 0n)
  const [paid] = await issuer.db.rows<{ cents: bigint }>(
    `select coalesce(sum(amount_micros), 0)::bigint / 10000 as cents from entries
      where account_id = $1 and kind = 'network'`,
    [account_id],
  )
  const [head] = await issuer.db.rows<{ event_sequence: bigint }>(
    'select event_sequence from account_sequences where account_id = $1',
    [account_id],
  )
  const found = {
    treasury: inPurse('treasury', '', 'cents'),
    owed: -inPurse('receivable', '', 'cents'),
    network: Number(paid?.cents ?? 0n),
    events: Number(head?.event_sequence ?? 0n),
    cards: cards.map(({ id }) => ({
      balance: inPurse('card', id, 'cents'),
      held: inPurse('card', id, 'held'),
      spent: inPurse('card', id, 'spent'),
    })),
  }
  assert.deepEqual(found, {
    treasury: model.treasury,
    owed: model.owed === 0 ? -0 : model.owed,
    network: model.network,
    events: model.events,
    cards: model.cards.map(({ balance, held, spent: counted }) => ({
      balance,
      held,
      spent: counted,
    })),
  })
}
