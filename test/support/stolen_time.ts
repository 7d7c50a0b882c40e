import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const TICKS_PER_SECOND = 100
const STOLEN_MAX = 0.05
const ATTEMPTS_MAX = 4

/** CPU time that other virtual machines of the host took from this one, in ticks; 0 elsewhere. */
function stolenTicks(): number {
  try {
    return Number(readFileSync('/proc/stat', 'utf8').split('\n')[0]?.trim().split(/ +/)[8] ?? 0)
  } catch {
    return 0
  }
}

/**
 * Repeats work that failed while the host took more than a twentieth of this machine's time: no
 * service answers within a second if it does not run. On a machine of its own it runs once.
 */
export async function unlessStolen<Value>(
  work: () => Promise<Value>,
  report: (sentence: string) => void,
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    const [began_ms, before] = [performance.now(), stolenTicks()]
    try {
      return await work()
    } catch (cause) {
      const ticks = ((performance.now() - began_ms) / 1_000) * TICKS_PER_SECOND
      const share = (stolenTicks() - before) / (ticks * availableParallelism())
      if (share < STOLEN_MAX || attempt === ATTEMPTS_MAX) throw cause
      report(`failed while the host took ${Math.round(share * 100)} % of the time: ${cause}`)
    }
  }
}
