import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { cardTraffic, type Link, openLink } from './card_traffic.ts'
import { type HttpKind, sendHttp } from './http_traffic.ts'
import { type Holder, skewedChoice } from './population.ts'
import type { Shares } from './shares.ts'

/** Runs in a process of its own, as the card network, the integrators and the agents. */
export type Job = {
  url: string
  card_host_port: number
  holders: Holder[]
  seconds: number
  /** With a rate, calls are sent when they are due; otherwise this many are always in flight. */
  in_flight: number
  per_second: number | null
  shares: Shares
}
export type Report = {
  /** Milliseconds by kind. */
  latencies: Record<string, number[]>
  /** Calls that ended within the time, by kind. */
  in_time: Record<string, number>
  errors: string[]
}

const LINKS = 4
const HTTP_CONNECTIONS = 32
const ERRORS_KEPT = 10

/** The service did not decide: timeout, malfunction. */
const NO_DECISION = new Set(['91', '96'])

async function run(job: Job): Promise<Report> {
  const { holders, shares } = job
  const client = new Pool(job.url, { connections: HTTP_CONNECTIONS })
  const links = await Promise.all(Array.from({ length: LINKS }, () => openLink(job.card_host_port)))
  const report: Report = { latencies: {}, in_time: {}, errors: [] }
  const until = performance.now() + job.seconds * 1_000
  const choose = skewedChoice(holders.length, Math.random)
  const nextCardMessage = cardTraffic(holders, Math.random)

  const sendCard = async (at: number, link: Link): Promise<[string, string | null]> => {
    const { kind, message, done } = nextCardMessage(at)
    const { is_approved, code } = await link.send(message)
    done(is_approved)
    return [`card ${kind}`, NO_DECISION.has(code) ? `${kind}: ${code}` : null]
  }
  const sendCall = async (at: number, dice: number): Promise<[string, string | null]> => {
    const kind = httpKindOf(dice, shares)
    const holder = holders[at] as Holder
    return [kind, await sendHttp(client, kind, { holder, random: Math.random })]
  }
  let count = 0
  const one = async () => {
    const began = performance.now()
    const at = choose()
    const dice = Math.random() * 100
    count += 1
    const link = links[count % LINKS] as Link
    const [kind, error] = await (dice < shares.cards ? sendCard(at, link) : sendCall(at, dice))
    const ended = performance.now()
    report.latencies[kind] ??= []
    report.latencies[kind].push(ended - began)
    if (ended <= until) report.in_time[kind] = (report.in_time[kind] ?? 0) + 1
    if (error !== null && report.errors.length < ERRORS_KEPT) report.errors.push(error)
  }
  await (job.per_second === null
    ? keepInFlight(one, job.in_flight, until)
    : sendAtRate(one, job.per_second, until))
  for (const link of links) link.close()
  await client.close()
  return report
}

function httpKindOf(dice: number, { cards, reads, writes }: Shares): HttpKind {
  if (dice < cards + reads) return 'REST read'
  return dice < cards + reads + writes ? 'REST write' : 'MCP'
}

async function keepInFlight(one: () => Promise<void>, in_flight: number, until: number) {
  const worker = async () => {
    while (performance.now() < until) await one()
  }
  await Promise.all(Array.from({ length: in_flight }, worker))
}

/** Open loop: a late response delays no other call. */
async function sendAtRate(one: () => Promise<void>, per_second: number, until: number) {
  const began = performance.now()
  const calls: Promise<void>[] = []
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - began) / 1_000) * per_second)
    while (calls.length < due) calls.push(one())
    await delay(2)
  }
  await Promise.all(calls)
}

process.on('message', async (job: Job) => process.send?.(await run(job)))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
