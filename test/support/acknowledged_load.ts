import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { OutgoingMessage } from '#iso8583/message.ts'
import type { Database } from '#platform/postgres/db.ts'
import { type HostConnection, NetworkError, openConnection } from '#sandbox/card_network.ts'
import { assertEventsAreWhole } from './event_proofs.ts'
import { send } from './http.ts'
import { purchaseMessage } from './issuer.ts'
import { openOwner } from './mixed_storm.ts'
import { pick, runTogether, type StormOwner } from './mixed_storm_actors.ts'
import { assertBooksSound } from './money.ts'
import { assertDecided } from './on_time.ts'
import type { TestService } from './start.ts'
import { seeded } from './storm.ts'

const CARDS = 4
const CLIENTS = 4
const SHOPS = 4
const PAUSE_MS = 10

/**
 * Owners that load cards and shops that charge them while a test breaks something. Every
 * acknowledged call and approval is remembered, and must be there afterwards exactly once.
 */
export type AcknowledgedLoad = {
  account_id: string
  /** Responses other than a success since the start. */
  unavailable(): number
  /** Card messages that were not approved. */
  refusedMessages(): number
  /** Of all responses since the start. */
  slowestMs(): number
  /** Milliseconds until the next load and the next approval from now. */
  nextSuccess(): Promise<number>
  /** Ends the traffic; throws if a client saw a response that is not allowed. */
  stop(): Promise<void>
  assertKept(db: Database): Promise<string>
}

type Call = { key: string; card_id: string }
type AcknowledgedCall = Call & { text: string }

type Target = { url: string; card_host_port: number }

/**
 * The nodes that get the traffic, if not the one that opens the account. If nodes fail, a client
 * repeats its call, and a shop its message, on another one. If the database fails, the nodes
 * respond with 503 and 91, and if a node dies without notice, the others may do so briefly.
 */
type Options = {
  targets?: () => readonly Target[]
  failing?: 'nodes' | 'database' | 'nodes_without_notice'
}

export async function startAcknowledgedLoad(
  node: TestService,
  seed: number,
  options: Options = {},
): Promise<AcknowledgedLoad> {
  const owner = await openOwner(node, CARDS)
  const own = [{ url: node.url, card_host_port: node.sandbox_host.card_host_port }]
  const targets = options.targets ?? (() => own)
  const failing = options.failing ?? (options.targets === undefined ? 'database' : 'nodes')
  const network: Network = {
    targets,
    can_close: failing !== 'database',
    can_refuse: failing !== 'nodes',
    lines: new Map(),
    ...{ slowest_ms: 0, refused_messages: 0 },
  }
  const loads: AcknowledgedCall[] = []
  const approvals: string[] = []
  let unavailable = 0
  let isOver = false
  const client = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 100 + at)
    while (!isOver && !isStopped()) {
      const card_id = pick(owner.cards, random).id
      const key = randomUUID()
      const text = await loadUntilDone(network, owner, {
        ...{ key, card_id },
        onRefusal: () => {
          unavailable += 1
        },
      })
      loads.push({ key, card_id, text })
      await delay(PAUSE_MS)
    }
  }
  const shop = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 200 + at)
    while (!isOver && !isStopped()) {
      const message = purchaseMessage(pick(owner.cards, random), 1)
      if ((await ask(network, message, random(2))) === '00') {
        approvals.push(message.fields[37] ?? '')
      } else unavailable += 1
      await delay(PAUSE_MS)
    }
  }
  const actors = (make: typeof client, count: number) =>
    Array.from({ length: count }, (_, at) => make(at))
  const traffic = runTogether([...actors(client, CLIENTS), ...actors(shop, SHOPS)])
  // A failure is thrown by stop; until then it must not count as unhandled.
  traffic.catch(() => undefined)
  return {
    account_id: owner.account_id,
    unavailable: () => unavailable,
    refusedMessages: () => network.refused_messages,
    slowestMs: () => Math.round(network.slowest_ms),
    nextSuccess: async () => {
      const began = performance.now()
      const [loaded, approved] = [loads.length, approvals.length]
      while (loads.length === loaded || approvals.length === approved) {
        assert(performance.now() - began < 60_000, 'no success within a minute')
        await Promise.race([delay(5), traffic])
      }
      return Math.round(performance.now() - began)
    },
    stop: async () => {
      isOver = true
      await traffic
      for (const line of network.lines.values()) line.end()
    },
    assertKept: async (db) => {
      await assertLoadsAreKept(node, owner, { loads, db })
      await assertApprovalsAreKept(db, approvals)
      await assertBooksSound(db)
      await assertEventsAreWhole(db)
      return `${loads.length} loads and ${approvals.length} approvals kept, 0 lost, 0 doubled`
    },
  }
}

type Network = {
  targets: () => readonly Target[]
  can_close: boolean
  can_refuse: boolean
  /** By port; each load has its own. */
  lines: Map<number, HostConnection>
  slowest_ms: number
  refused_messages: number
}

/** Keeps the time of the slowest response. */
async function timed<Value>(network: Network, responded: Promise<Value>): Promise<Value> {
  const began = performance.now()
  const value = await responded
  network.slowest_ms = Math.max(network.slowest_ms, performance.now() - began)
  return value
}

const targetAt = ({ targets }: Network, at: number): Target => {
  const all = targets()
  return all[at % all.length] as Target
}

const load = ({ url }: { url: string }, owner: StormOwner, { key, card_id }: Call) =>
  send(url, 'POST', `/v1/cards/${card_id}/load`, {
    bearer: owner.key,
    body: { amount_usd: 1 },
    key,
  })

/** Repeats a call with its key until it succeeds, as the documentation asks clients to. */
async function loadUntilDone(
  network: Network,
  owner: StormOwner,
  { onRefusal, ...call }: Call & { onRefusal(): void },
): Promise<string> {
  const first = call.key.charCodeAt(0)
  for (let refusals = 0; ; refusals += 1) {
    const sent = load(targetAt(network, first + refusals), owner, call)
    const reply = await timed(network, sent).catch((cause) => {
      if (!network.can_close) throw cause
      return null
    })
    if (reply?.status === 200) return reply.text
    onRefusal()
    if (reply !== null) {
      // A load balancer says 502 if its node dies during the call.
      const isLost = network.can_close && reply.status === 502
      const isExpected = reply.status === 503 || reply.body['error'] === 'idempotency_in_progress'
      assert(isExpected || isLost, `a load got ${reply.status}: ${reply.text}`)
      assert(isLost || reply.headers.get('retry-after') !== null, 'a 503 says when to try again')
    }
    await delay(network.can_close ? 30 : 100)
  }
}

/** The response code; a message whose connection closes is repeated on another one. */
async function ask(network: Network, message: OutgoingMessage, first: number): Promise<string> {
  const repeat = { ...message, mti: '0101' }
  for (let attempt = 0; ; attempt += 1) {
    const { card_host_port } = targetAt(network, first + attempt)
    const sent = lineTo(network, card_host_port).then((line) =>
      timed(network, line.send(attempt === 0 ? message : repeat)),
    )
    const answer = await sent.catch((cause) => {
      assert(network.can_close && cause instanceof NetworkError && attempt < 50, String(cause))
      return null
    })
    if (answer === null) {
      await delay(30)
      continue
    }
    const code = answer.fields[39] ?? 'none'
    if (!network.can_refuse) assertDecided(code, 'a purchase')
    assert(code === '00' || code === '91', `a purchase got ${code}`)
    if (code !== '00') network.refused_messages += 1
    return code
  }
}

/** One connection per host, as a network keeps it. */
async function lineTo({ lines }: Network, port: number): Promise<HostConnection> {
  const known = lines.get(port)
  if (known !== undefined && !known.isDown()) return known
  const line = await openConnection(port)
  lines.set(port, line)
  return line
}

async function assertLoadsAreKept(
  node: TestService,
  owner: StormOwner,
  { loads, db }: { loads: readonly AcknowledgedCall[]; db: Database },
): Promise<void> {
  assert(loads.length > 0)
  for (const each of loads) {
    const { headers, text } = await load(node, owner, each)
    assert.equal(headers.get('idempotent-replayed'), 'true', `${each.key} was acknowledged`)
    assert.equal(text, each.text)
  }
  const [row] = await db.rows<{ count: bigint }>(
    `select count(*) from movements where account_id = $1 and movement = 'card_loaded'`,
    [owner.account_id],
  )
  assert.equal(row?.count, BigInt(loads.length + CARDS))
}

async function assertApprovalsAreKept(db: Database, approvals: readonly string[]): Promise<void> {
  assert(approvals.length > 0)
  const rows = await db.rows<{ reference: string }>(
    `select retrieval_reference_number as reference from transactions
      where type = 'authorization' and retrieval_reference_number = any($1)`,
    [approvals],
  )
  assert.deepEqual(rows.map(({ reference }) => reference).sort(), [...approvals].sort())
}
