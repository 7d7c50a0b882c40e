import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Statement, type StatementKind, statement_kinds } from '#contract/statements.ts'
import type { MovementName } from '#domain/ledger/movements.ts'
import { type Move, post } from '#domain/ledger/post.ts'
import {
  cardPurse,
  chain,
  holdPurse,
  network,
  operator,
  type Purse,
  payout,
  prepaid,
  receivable,
  suspense,
  treasury,
} from '#domain/ledger/purse.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { issueCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { readPdf } from '#test/support/pdf.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup } from '#test/support/topups.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? Date.now() % 2 ** 31)
const LENGTH = Number(process.env['FLORIN_TEST_LENGTH'] ?? 1)

const service = await startTestService()
const { url, runtime } = service

/** Stand for two cards of an account: an agent issued the first, the owner the second. */
const card = cardPurse('card_a')
const hold = holdPurse('card_a')
const CARD_AGENT = 'agent_a'
const TOPUP_AGENT = 'agent_b'

/** Every movement of an account, with its kind; null if it stays inside. */
const terms: readonly [MovementName, Purse, Purse, StatementKind | null][] = [
  ['topup_settled', chain, treasury, 'deposits'],
  ['suspense_released', suspense, treasury, 'deposits'],
  ['withdrawal_reserved', treasury, payout, 'withdrawals'],
  ['withdrawal_returned', payout, treasury, 'withdrawals'],
  ['card_loaded', treasury, card, null],
  ['card_unloaded', card, treasury, null],
  ['card_replaced', card, cardPurse('card_b'), null],
  ['card_replaced', cardPurse('card_b'), card, null],
  ['spend_held', card, hold, null],
  ['hold_released', hold, card, null],
  ['hold_returned', hold, treasury, null],
  ['hold_captured', hold, network, 'spent'],
  ['spend_taken', card, network, 'spent'],
  ['spend_owed', receivable, network, null],
  ['spend_refunded', network, card, 'refunds'],
  ['refund_returned', network, treasury, 'refunds'],
  ['dispute_credited', operator, treasury, 'disputes'],
  ['dispute_reversed', treasury, operator, 'disputes'],
  ['call_credited', prepaid, treasury, 'refunds'],
  ['adjusted_up', operator, treasury, 'other'],
  ['adjusted_down', treasury, operator, 'other'],
]
const kinds = new Map<string, StatementKind | null>(terms.map(([name, , , kind]) => [name, kind]))
// Posted by the ledger itself, when money comes in while there is a debt.
kinds.set('debt_paid_by_card', 'other').set('debt_paid_by_treasury', 'other')

const MONTHS = 4
const steps = fc.array(
  fc.record({
    terms: fc.constantFrom(...terms),
    micros: fc.integer({ min: 1, max: 50_000_000 }),
    /** Time since the step before. */
    hours: fc.integer({ min: 0, max: 90 }),
  }),
  { minLength: 1, maxLength: 40 },
)

type Sums = { opening: bigint; closing: bigint } & Record<StatementKind, bigint>
const newSums = (opening: bigint): Sums => ({
  ...(Object.fromEntries(statement_kinds.map((kind) => [kind, 0n])) as Record<
    StatementKind,
    bigint
  >),
  opening,
  closing: opening,
})

const INSIDE = ['treasury', 'card', 'hold']

test(`statements of random histories equal the ledger to the micro-dollar (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const person = await openAccount(url)
      const objects = await createObjects(person)
      const { expected, by_agent } = await play(person, history, objects)
      const { body } = await send(url, 'GET', '/v1/statements?order=asc', person)
      const statements: Statement[] = body.data
      assert.deepEqual(statements.map(sumsOf), expected)
      const balance = await send(url, 'GET', '/v1/balance', person)
      assert.equal(statements.at(-1)?.closing_usd, balance.body.total_usd)
      for (const statement of statements) {
        await assertFilesAgree(person, statement)
        await assertAgentsAgree(person, statement, by_agent.get(statement.period) ?? new Map())
      }
    }),
    { numRuns: 4 * LENGTH, seed: SEED },
  )
})

type Objects = { agent_card: string; own_card: string; agent_topup: string }

/** Two cards and a top-up, as if agents had created one card and the top-up. */
async function createObjects({ bearer }: Person): Promise<Objects> {
  const { owner_db } = service
  const { id: agent_card } = await issueCard(url, bearer)
  const { id: own_card } = await issueCard(url, bearer)
  const { id: agent_topup } = await awaitedTopup(url, bearer)
  const sign = (table: string) => `update ${table} set client_id = $2 where id = $1`
  await owner_db.run(sign('cards'), [agent_card, CARD_AGENT])
  await owner_db.run(sign('topups'), [agent_topup, TOPUP_AGENT])
  return { agent_card, own_card, agent_topup }
}

/** The sums of each agent by kind; null is the owner. */
type AgentSums = Map<string | null, Sums>

/** Posts a history that began some months ago, and adds it up by month and agent. */
async function play(
  { account_id }: Person,
  history: readonly Step[],
  { agent_card, own_card, agent_topup }: Objects,
): Promise<{ expected: Sums[]; by_agent: Map<string, AgentSums> }> {
  const real = ({ owner_id, ...purse }: Purse): Purse => ({
    ...purse,
    owner_id: { card_a: agent_card, card_b: own_card }[owner_id] ?? owner_id,
  })
  const by_agent = new Map<string, AgentSums>()
  const add = (month: string, client_id: string | null, kind: StatementKind, micros: bigint) => {
    const agents: AgentSums = by_agent.get(month) ?? new Map()
    const sums = agents.get(client_id) ?? newSums(0n)
    sums[kind] += micros
    by_agent.set(month, agents.set(client_id, sums))
  }
  const now = new Date()
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS, 3))
  await service.owner_db.run('update accounts set created_at = $2 where id = $1', [
    account_id,
    start,
  ])
  const months = Array.from({ length: MONTHS + 1 }, (_, at) =>
    new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + at)).toISOString().slice(0, 7),
  )
  const deltas = new Map(months.map((month) => [month, newSums(0n)]))
  let at_ms = start.getTime()
  for (const { terms, micros, hours } of history) {
    at_ms = Math.min(at_ms + hours * 3_600_000, now.getTime())
    const [movement, from, to] = terms
    const isOfAgent = movement === 'topup_settled' && micros % 2 === 0
    const reference = isOfAgent ? { type: 'topup', id: agent_topup } : { type: 'test', id: 'one' }
    const amount_micros = BigInt(micros)
    const step: Move = {
      ...{ movement, account_id, from: real(from), to: real(to), amount_micros, reference },
      description: `=${movement}, "quoted"`,
    }
    for (const row of await posted(account_id, step, new Date(at_ms))) {
      const kind = kinds.get(row.movement)
      if (!kind) continue
      const month = row.created_at.toISOString().slice(0, 7)
      const sums = deltas.get(month)
      assert.ok(sums !== undefined)
      const micros = INSIDE.includes(row.from_kind) ? -row.amount_micros : row.amount_micros
      sums[kind] += micros
      const isOnCard = [row.from_owner_id, row.to_owner_id].includes(agent_card)
      const client = isOfAgent && row.movement === movement ? TOPUP_AGENT : null
      add(month, isOnCard ? CARD_AGENT : client, kind, micros)
    }
  }
  let balance = 0n
  const expected = months.map((month) => {
    const sums = { ...(deltas.get(month) ?? newSums(0n)), opening: balance }
    for (const kind of statement_kinds) balance += sums[kind]
    return { ...sums, closing: balance }
  })
  return { expected, by_agent }
}

type Step = { terms: (typeof terms)[number]; micros: number; hours: number }
type Row = {
  movement: string
  from_kind: string
  from_owner_id: string
  to_owner_id: string
  amount_micros: bigint
  created_at: Date
}

/** The movements that a step added: none if the purse lacked the money, two if it paid a debt. */
async function posted(account_id: string, move: Move, now: Date): Promise<Row[]> {
  const { db, newId } = runtime
  const last = `select coalesce(max(id), '') as id from movements where account_id = $1`
  const [before] = await db.rows<{ id: string }>(last, [account_id])
  await db.transaction((tx) => post(tx, [move], { now, newId }))
  return db.rows<Row>(
    `select movement, from_kind, from_owner_id, to_owner_id, amount_micros, created_at
       from movements
      where account_id = $1 and id > $2`,
    [account_id, before?.id],
  )
}

function sumsOf(statement: Statement): Sums {
  const sums = newSums(microsFromUsd(statement.opening_usd))
  for (const kind of statement_kinds) sums[kind] = microsFromUsd(statement[`${kind}_usd`])
  return { ...sums, closing: microsFromUsd(statement.closing_usd) }
}

/** The rows of the CSV add up to the statement by type, and the PDF has as many. */
async function assertFilesAgree(person: Person, statement: Statement): Promise<void> {
  const csv = await send(url, 'GET', `/files/statements/${statement.period}.csv`, person)
  const rows = csv.text.trimEnd().split('\n').slice(1)
  const found = newSums(microsFromUsd(statement.opening_usd))
  for (const row of rows) {
    const cells =
      /^[\d-]+,(\w+),"'=\w+, ""quoted""",(?:\d{4})?,(-?[\d.]+),(-?[\d.]+),(?:one|tup_\w+)$/.exec(
        row.replace('Paid toward the amount that this account owes.', `"'=x, ""quoted"""`),
      )
    assert.ok(cells !== null, row)
    found[cells[1] as StatementKind] += microsFromUsd(Number(cells[2]))
    found.closing += microsFromUsd(Number(cells[2]))
    assert.equal(microsFromUsd(Number(cells[3])), found.closing)
  }
  assert.deepEqual(found, sumsOf(statement))
  const file = await fetch(`${url}/files/statements/${statement.period}.pdf`, {
    headers: { authorization: `Bearer ${person.bearer}` },
  })
  const texts = readPdf(Buffer.from(await file.arrayBuffer())).flat()
  const dates = texts.filter((text) => /^\d{4}-\d{2}-\d{2}$/.test(text))
  assert.equal(dates.length, rows.length)
}

/** Each agent has its own movements, and all lines together are the statement. */
async function assertAgentsAgree(
  person: Person,
  statement: Statement,
  expected: AgentSums,
): Promise<void> {
  const path = `/files/statements/${statement.period}.agents.json`
  const { body } = await send(url, 'GET', path, person)
  const lines: (Statement & { client_id: string | null })[] = body.data
  for (const kind of statement_kinds) {
    const amounts = lines.map((line) => microsFromUsd(line[`${kind}_usd`]))
    const total = amounts.reduce((sum, amount) => sum + amount, 0n)
    assert.equal(total, microsFromUsd(statement[`${kind}_usd`]), kind)
    for (const { client_id, ...line } of lines) {
      const own = expected.get(client_id)?.[kind] ?? 0n
      assert.equal(microsFromUsd(line[`${kind}_usd`]), own, `${kind} of ${client_id}`)
    }
  }
  const named = lines.flatMap(({ client_id }) => client_id ?? [])
  assert.deepEqual(named.sort(), [...expected.keys()].flatMap((id) => id ?? []).sort())
}
