import assert from 'node:assert/strict'
import type { Card } from '#contract/cards.ts'
import { runtimeOfId } from '#operations/cells.ts'
import { refusalOf } from './calls.ts'
import { type Reply, type RequestOptions, send } from './http.ts'
import { fundTreasury } from './money.ts'
import { createKey, openAccount, type Person } from './people.ts'
import type { TestService } from './start.ts'

export type Holder = Person & { key: string }
type Service = Pick<TestService, 'url' | 'runtime'>

/** An account with money in the treasury and an API key. */
export async function openHolder({ url, runtime }: Service, usd = 0): Promise<Holder> {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const { db } = runtimeOfId(runtime, person.account_id)
  if (usd > 0) await fundTreasury(db, person.account_id, usd)
  return { ...person, key }
}

export async function issueCard(url: string, bearer: string, body: object = {}): Promise<Card> {
  const reply = await send(url, 'POST', '/v1/cards', { bearer, body: { type: 'virtual', ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

/** A POST to a card's action: load, freeze, … */
export function callCard(
  url: string,
  { id, verb }: { id: string; verb: string },
  sent: RequestOptions,
): Promise<Reply> {
  return send(url, 'POST', `/v1/cards/${id}/${verb}`, sent)
}

export async function getCard(url: string, bearer: string, id: string): Promise<Card> {
  const reply = await send(url, 'GET', `/v1/cards/${id}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** A new card with this status. */
export async function cardIn(
  url: string,
  bearer: string,
  { status, ...body }: { status: Card['status'] } & Record<string, unknown>,
): Promise<Card> {
  const card = await issueCard(url, bearer, body)
  if (status === 'active') return card
  const verb = status === 'frozen' ? 'freeze' : 'cancel'
  const reply = await callCard(url, { id: card.id, verb }, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export type StoredEvent = {
  type: string
  sequence: bigint | null
  body: string | null
  card_id: string
}

/** The events of a card, in order. */
export async function eventsOf({ runtime }: Service, card_id: string): Promise<StoredEvent[]> {
  return runtime.db.rows<StoredEvent>(
    'select type, sequence, body, card_id from events where card_id = $1 order by id',
    [card_id],
  )
}

export async function eventTypesOf(service: Service, card_id: string): Promise<string[]> {
  return (await eventsOf(service, card_id)).map(({ type }) => type)
}

const MISSING = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'

/** The response for another account's card is identical to that for a missing card. */
export async function assertForeignLikeMissing(
  service: Service,
  ask: (bearer: string, card_id: string) => Promise<Reply>,
): Promise<void> {
  const owner = await openHolder(service)
  const stranger = await openHolder(service)
  const card = await issueCard(service.url, owner.key)
  const foreign = refusalOf(await ask(stranger.key, card.id))
  assert.deepEqual(foreign, { status: 404, error: 'not_found', message: 'No such card.' })
  assert.deepEqual(refusalOf(await ask(stranger.key, MISSING)), foreign)
  assert.deepEqual(await getCard(service.url, owner.key, card.id), card)
}
