import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Card } from '#contract/cards.ts'
import type { Caller } from '#domain/context/context.ts'
import { assertRefused } from '#test/support/calls.ts'
import { callCard, cardIn, issueCard, openHolder } from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'
import { listCards } from './list_cards.ts'

const service = await startTestService()
const { url, runtime } = service
const holder = await openHolder(service, 100)
const { bearer } = holder

const list = (query: string, who = bearer): Promise<Reply> =>
  send(url, 'GET', `/v1/cards${query}`, { bearer: who })

const idsOf = ({ body }: Reply): string[] => body.data.map(({ id }: Card) => id)

const active = await issueCard(url, bearer, { load_usd: 12, name: 'Travel' })
const frozen = await cardIn(url, bearer, { status: 'frozen', bin: '555555' })
const cancelled = await cardIn(url, bearer, { status: 'cancelled', name: 'travel' })

test('lists cards newest first, exactly as get_card shows them, and to their owner only', async () => {
  const reply = await list('')
  assert.deepEqual(reply.body, {
    data: [cancelled, frozen, active],
    next_cursor: null,
    has_more: false,
  })
  assert.deepEqual(idsOf(await list('?order=asc')), [active.id, frozen.id, cancelled.id])
  assert.deepEqual(idsOf(await list('', (await openHolder(service)).bearer)), [])
})

test('filters match exactly and combine with AND', async () => {
  const cases: [string, Card[]][] = [
    ['?status=active', [active]],
    ['?status=frozen,cancelled', [cancelled, frozen]],
    ['?type=virtual', [cancelled, frozen, active]],
    ['?type=physical', []],
    ['?bin=555555', [frozen]],
    ['?brand=visa', [cancelled, active]],
    [`?last4=${active.last4}&status=active`, [active]],
    ['?name=Travel', [active]],
    ['?name=Trav', []],
    ['?brand=visa&status=cancelled', [cancelled]],
    [`?created_gt=${active.created_at}&order=asc`, [frozen, cancelled]],
  ]
  for (const [query, cards] of cases) {
    assert.deepEqual(
      idsOf(await list(query)),
      cards.map(({ id }) => id),
      query,
    )
  }
})

test('a malformed filter is refused instead of matching nothing', async () => {
  for (const query of ['?status=gone', '?bin=40', '?last4=12345', '?brand=amex', '?type=']) {
    assertRefused(await list(query), 400, 'invalid_request')
  }
  assertRefused(await list('?name='), 400, 'invalid_request')
  assertRefused(await list(`?name=${'a'.repeat(101)}`), 400, 'invalid_request')
  assertRefused(await list('?pan=4000000000000002'), 400, 'unknown_parameter')
  for (const cursor of ['nonsense', '', 'a'.repeat(5_000)]) {
    assertRefused(await list(`?cursor=${cursor}`), 400, 'invalid_cursor')
  }
})

test('pages neither repeat nor skip cards, and a cursor is bound to its filters', async () => {
  const person = await openHolder(service)
  const created: string[] = []
  for (let at = 0; at < 5; at += 1) created.push((await issueCard(url, person.bearer)).id)
  const seen: string[] = []
  let query = '?limit=2'
  for (;;) {
    const page = await list(query, person.bearer)
    seen.push(...idsOf(page))
    if (!page.body.has_more) break
    await issueCard(url, person.bearer)
    const cursor = page.body.next_cursor
    assertRefused(
      await list(`?limit=2&status=active&cursor=${cursor}`, person.bearer),
      400,
      'invalid_cursor',
    )
    query = `?limit=2&cursor=${cursor}`
  }
  assert.deepEqual(seen, created.reverse())
})

test('a token restricted to some cards sees only those', async () => {
  const caller: Caller = {
    kind: 'oauth_client',
    id: 'client',
    name: null,
    account_id: holder.account_id,
    scopes: new Set(['card:read']),
    card_ids: [frozen.id],
    rate_profile: null,
  }
  const context = { ...runtime, tx: runtime.db, caller, now: runtime.clock.now() }
  const run = listCards as (context: unknown, input: object) => Promise<{ data: Card[] }>
  assert.deepEqual((await run(context, {})).data, [frozen])
  assert.deepEqual((await run({ ...context, caller: { ...caller, card_ids: [] } }, {})).data, [])
})

test('a list contains no card number', async () => {
  const reply = await callCard(
    url,
    { id: active.id, verb: 'load' },
    {
      bearer,
      body: { amount_usd: 1 },
    },
  )
  assert.equal(reply.status, 200)
  // Matches field names and whole values only, because a random id may contain "pan".
  assert.doesNotMatch((await list('')).text, /"(?:pan|cvv|pan_sealed|pan_hash)":|"\d{13,19}"/)
})
