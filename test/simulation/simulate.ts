import { Coverage } from './coverage.ts'
import type { Monitor } from './monitor.ts'
import { type Progress, type SimulationResult, simulate } from './simulation.ts'

type RunOptions = {
  seed: number
  minutes: number
  faults?: readonly string[]
  clients?: number
  stops_at_violation?: boolean
}

/**
 * A new database and new weights now and then keep the checks quick and the mix varied. Twice this
 * long, the two servers fill their disk of 4 GB by themselves.
 */
const ROUND_SECONDS = 300
/** More than by default: during faults many of them wait. */
const SHARED_CLIENTS = 28

/** Runs rounds with consecutive seeds; returns the exit code. */
export async function runRounds(options: RunOptions): Promise<number> {
  const { seed, minutes, faults, clients, stops_at_violation = false } = options
  const began = performance.now()
  const total = { operations: 0, faults: 0, violations: 0 }
  const coverage = new Coverage()
  for (let round = 0; ; round += 1) {
    const left = minutes * 60 - (performance.now() - began) / 1_000
    if (left < 5 || total.violations > 0) break
    const result = await simulate({
      seed: seed + round,
      seconds: Math.min(left, ROUND_SECONDS),
      ...(faults !== undefined && { faults }),
      ...(clients !== undefined && { exact_clients: clients }),
      shared_clients: SHARED_CLIENTS,
      keeps_trace: true,
      stops_at_violation,
      onProgress: (progress) => showProgress(seed + round, progress),
    })
    report(seed + round, result)
    total.operations += result.monitor.operations
    total.faults += result.monitor.faults
    total.violations += result.monitor.violations.length
    coverage.add(result.monitor)
  }
  const seconds = (performance.now() - began) / 1_000
  console.log(
    `${total.operations} operations and messages, ${total.faults} faults, ` +
      `${coverage.combinations} combinations of operation, outcome and fault, ` +
      `${total.violations} violations in ${Math.round(seconds)} s ` +
      `(${Math.round(total.operations / seconds)} a second)`,
  )
  console.log(`\n${coverage.table()}`)
  return total.violations === 0 ? 0 : 1
}

let shown_at = 0

function showProgress(seed: number, { monitor, seconds, waits_for }: Progress): void {
  const isTerminal = process.stdout.isTTY === true
  if (!isTerminal && performance.now() - shown_at < 10_000) return
  shown_at = performance.now()
  const line = progressLine(seed, monitor, seconds) + (waits_for === null ? '' : `; ${waits_for}`)
  process.stdout.write(isTerminal ? `\r${line}` : `${line}\n`)
}

function progressLine(seed: number, monitor: Monitor, seconds: number): string {
  const { operations, faults, failures, starved, violations } = monitor
  const { outcomes, combinations } = monitor
  const kinds = [...outcomes.values()].reduce((sum, { size }) => sum + size, 0)
  return (
    `seed ${seed}: ${Math.round(seconds)} s, ${operations} operations ` +
    `(${Math.round(operations / Math.max(1, seconds))}/s), ${faults} faults, ` +
    `${failures} failed attempts (${starved} for want of a core), ` +
    `${outcomes.size} operations x ${kinds} outcomes, ` +
    `${combinations.size} with faults, ${violations.length} violations`
  )
}

function report(seed: number, { monitor, trace_path, seconds }: SimulationResult): void {
  console.log(progressLine(seed, monitor, seconds))
  const counts = [...monitor.fault_counts].map(([name, count]) => `${name} ${count}`)
  console.log(`  faults: ${counts.join(', ')}`)
  console.log(`  slowest recovery: ${Math.round(monitor.slowest_recovery_ms)} ms after a fault`)
  for (const { what, detail } of monitor.violations.slice(0, 10)) {
    console.log(`  VIOLATION ${what}: ${detail}`)
  }
  if (monitor.violations.length > 0) console.log(`  trace: ${trace_path}`)
}
