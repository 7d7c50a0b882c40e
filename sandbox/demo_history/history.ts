import type { DemoAgent } from './agent.ts'
import { connectAgents, leaveApproval, playAgents } from './agents.ts'
import { addLastCases, playCases } from './cases.ts'
import { Chance } from './chance.ts'
import { call, type DemoSandbox } from './demo_sandbox.ts'
import { liveThrough, type Person, settleIn } from './person.ts'
import { abroad, agent_shops, everyday } from './places.ts'
import { type DemoWebhook, subscribe } from './webhook.ts'

const DAY_S = 86_400
export const DEMO_DAYS = 90
const SEED = 20_261_115
/** A refresh token lasts 30 days, and the agents come every day. */
const AGENTS_FROM_DAY = 76
const WEBHOOK_FROM_DAY = 86

type Demo = { email: string; password: string; bearer: string }

/**
 * Ninety days of a small program, made through the API and the sandbox as its users would: a
 * household, a studio whose agents buy services, and a traveler. `onDay` is called after each day.
 */
export async function playHistory(
  sandbox: Omit<DemoSandbox, 'chance'>,
  demo: Demo,
  onDay: (day: number) => void,
): Promise<void> {
  const with_chance: DemoSandbox = { ...sandbox, chance: new Chance(SEED) }
  const people = await openPeople(with_chance, demo)
  const [household] = people
  if (household === undefined) return
  let agents: DemoAgent[] = []
  let webhook: DemoWebhook | null = null
  for (let day = 0; day < DEMO_DAYS; day += 1) {
    if (day === AGENTS_FROM_DAY) agents = await connectAgents(with_chance, demo)
    if (day === WEBHOOK_FROM_DAY) webhook = await subscribe(with_chance, household.bearer)
    await playAgents(with_chance, agents, household)
    await playDay(with_chance, people, day)
    onDay(day + 1)
  }
  await addLastCases(with_chance, people)
  await leaveApproval(with_chance, agents, household)
  await webhook?.close()
}

async function openPeople(sandbox: DemoSandbox, demo: Demo): Promise<Person[]> {
  // Keys, because a session ends after 30 days.
  const open = async (email: string) => {
    const made = await call(sandbox, 'create_account', { email, password: demo.password })
    const key = await call(sandbox, 'create_api_key', { name: 'Demo key' }, String(made.bearer))
    return String(key.key)
  }
  return Promise.all([
    settleIn(sandbox, demo.bearer, {
      name: 'household',
      income_usd: 1_500,
      daily: 2.4,
      cards: [
        { name: 'Everyday', limits: { daily_usd: 300 }, places: everyday },
        { name: 'Subscriptions', limits: { monthly_usd: 80 }, places: [] },
        { name: 'Shopping agent', limits: { per_transaction_usd: 60 }, places: agent_shops },
        { name: 'Travel', limits: {}, places: abroad, brand: 'mastercard' },
      ],
    }),
    settleIn(sandbox, await open('studio@florin.example'), {
      name: 'studio',
      income_usd: 900,
      daily: 1.4,
      cards: [{ name: 'Research agent', limits: { daily_usd: 120 }, places: agent_shops }],
    }),
    settleIn(sandbox, await open('noor@florin.example'), {
      name: 'traveler',
      income_usd: 700,
      daily: 0.7,
      cards: [{ name: 'Trips', limits: {}, places: [...abroad, ...everyday] }],
    }),
  ])
}

/**
 * Purchases in the morning, at noon and in the evening (UTC); at the end of the day the tasks of
 * the service run. A day begins at the time of day at which the demo runs, because it ends now.
 */
async function playDay(
  sandbox: DemoSandbox,
  people: readonly Person[],
  day: number,
): Promise<void> {
  const start_s = Math.floor(Date.now() / 1_000) % DAY_S
  const times = [8, 12.5, 18].map((hour) => (hour + sandbox.chance.next() * 2) * 3_600)
  const waits = times.map((time_s) => (time_s - start_s + DAY_S) % DAY_S).sort((a, b) => a - b)
  let now_s = 0
  for (const [at, wait_s] of waits.entries()) {
    await sandbox.moveClock(wait_s - now_s)
    now_s = wait_s
    for (const person of people) await liveThrough(sandbox, person, { day, isFirst: at === 0 })
    if (at === 1) await playCases(sandbox, people, day)
  }
  await sandbox.host.advanceClock(DAY_S - now_s)
}
