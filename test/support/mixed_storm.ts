import assert from 'node:assert/strict'
import { type HostConnection, openConnection } from '#sandbox/card_network.ts'
import { issueCard, openHolder } from './cards.ts'
import type { ChildNode } from './child_node.ts'
import { pick, type Random, runTogether, type StormOwner } from './mixed_storm_actors.ts'
import { makeOwnerCall, printedCard } from './mixed_storm_calls.ts'
import { nextCardMessage } from './mixed_storm_messages.ts'
import { assertDecided } from './on_time.ts'
import type { TestService } from './start.ts'
import { seeded } from './storm.ts'

/**
 * Card messages over TCP mixed with every write that an account's owner can make, on one or more
 * nodes. No message may get a system failure and no call a 5xx in any interleaving: the first
 * version failed 13 % of card messages in this mix.
 */
export type MixedStorm = {
  /** Opens the accounts and reads card numbers. */
  host: TestService
  /** Get the traffic. */
  nodes: readonly StormNode[]
  seed: number
  clients: number
  /** The share of steps that are card messages, in percent. */
  message_percent: number
  isOver(result: StormResult): boolean
}

export type StormNode = Pick<ChildNode, 'url' | 'card_host_port'>

export const stormNode = ({ url, sandbox_host }: TestService): StormNode => ({
  url,
  card_host_port: sandbox_host.card_host_port,
})

export type StormResult = {
  card_messages: number
  owner_calls: number
  response_codes: Map<string, number>
  statuses: Map<string, number>
  owners: readonly StormOwner[]
}

/** Accounts with one busy card and with many. */
const CARD_COUNTS = [1, 3, 10]
const SYSTEM_ERROR = '96'

export async function runMixedStorm(storm: MixedStorm): Promise<StormResult> {
  const { host, nodes, seed, clients, message_percent, isOver } = storm
  const owners = await Promise.all(CARD_COUNTS.map((count) => openOwner(host, count)))
  const result: StormResult = {
    card_messages: 0,
    owner_calls: 0,
    response_codes: new Map(),
    statuses: new Map(),
    owners,
  }
  const client = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 1_000 + at)
    // Separate connections: responses are matched by trace number, which a repeat shares.
    const lines = await Promise.all(
      nodes.map(({ card_host_port }) => openConnection(card_host_port)),
    )
    try {
      while (!isStopped() && !isOver(result)) {
        const owner = pick(owners, random)
        if (random(100) < message_percent) await sendCardMessage(lines, owner, { random, result })
        else await sendOwnerCall({ host, nodes }, owner, { random, result })
      }
    } finally {
      for (const line of lines) line.end()
    }
  }
  await runTogether(Array.from({ length: clients }, (_, at) => client(at)))
  return result
}

export async function openOwner(host: TestService, card_count: number): Promise<StormOwner> {
  const holder = await openHolder(host, 50_000)
  const owner: StormOwner = { ...holder, cards: [], purchases: [], captures: [] }
  for (let at = 0; at < card_count; at += 1) {
    const { id } = await issueCard(host.url, holder.key, { load_usd: 500 })
    owner.cards.push(await printedCard(host, owner, id))
  }
  return owner
}

type Step = { random: Random; result: StormResult }

export async function sendCardMessage(
  lines: readonly HostConnection[],
  owner: StormOwner,
  { random, result }: Step,
): Promise<void> {
  const message = nextCardMessage(owner, random)
  const { fields } = await pick(lines, random).send(message)
  const code = fields[39] ?? 'none'
  result.card_messages += 1
  count(result.response_codes, code)
  assertDecided(code, message.mti)
  assert.notEqual(code, SYSTEM_ERROR, message.mti)
}

export async function sendOwnerCall(
  { host, nodes }: Pick<MixedStorm, 'host' | 'nodes'>,
  owner: StormOwner,
  { random, result }: Step,
): Promise<void> {
  const { url } = pick(nodes, random)
  for (const { call, status, text } of await makeOwnerCall({ host, url }, owner, random)) {
    result.owner_calls += 1
    count(result.statuses, String(status))
    assert(status < 500, `${call} was answered ${status}: ${text}`)
  }
}

const count = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)
