import type { Shares } from './shares.ts'
import type { Report } from './traffic.ts'

const ONLY = { cards: 0, reads: 0, writes: 0 }

/** Each kind of call alone, at about its rate in the mix with 500 card messages a second. */
const kinds: readonly { name: string; per_second: number; shares: Shares }[] = [
  { name: 'card message', per_second: 500, shares: { ...ONLY, cards: 100 } },
  { name: 'REST read', per_second: 200, shares: { ...ONLY, reads: 100 } },
  { name: 'REST write', per_second: 70, shares: { ...ONLY, writes: 100 } },
  { name: 'MCP', per_second: 100, shares: ONLY },
]

export type CpuTimes = { service_us: number; postgres_us: number }

type Measurement = {
  runTraffic(job: { seconds: number; per_second: number; shares: Shares }): Promise<Report>
  readCpu(): Promise<CpuTimes>
  seconds: number
}

export type KindCost = CpuTimes & { name: string; per_second: number }

/** The CPU time of a call by kind, with the webhooks that it causes. */
export async function measureKinds(measurement: Measurement): Promise<KindCost[]> {
  const { runTraffic, readCpu, seconds } = measurement
  const costs: KindCost[] = []
  for (const { name, per_second, shares } of kinds) {
    await runTraffic({ seconds: 2, per_second, shares })
    const before = await readCpu()
    const { latencies } = await runTraffic({ seconds, per_second, shares })
    const after = await readCpu()
    const count = Object.values(latencies).reduce((sum, all) => sum + all.length, 0)
    costs.push({
      name,
      per_second,
      service_us: (after.service_us - before.service_us) / count,
      postgres_us: (after.postgres_us - before.postgres_us) / count,
    })
  }
  return costs
}
