import type { Trace } from './trace.ts'

/** A part of the system that a fault makes unavailable. */
export type Component = 'node0' | 'node1' | 'database'

type Window = { components: readonly Component[]; from: number; to: number | null; fault: string }
export type Violation = { what: string; detail: string }

/** After a fault ends, failures are allowed for this long. */
const RECOVERY_MS = 10_000
/** An operation may not fail for longer than this in any case. */
const STUCK_MS = 90_000

/** Counts what happens, knows which faults excuse a failure, and collects violations. */
export class Monitor {
  readonly violations: Violation[] = []
  readonly #windows: Window[] = []
  readonly #trace: Trace
  /** Outcomes by operation, and the faults that were active during them. */
  readonly outcomes = new Map<string, Map<string, number>>()
  readonly combinations = new Set<string>()
  readonly fault_counts = new Map<string, number>()
  operations = 0
  failures = 0
  slowest_recovery_ms = 0
  /** Failures of a machine that was busy with other programs. */
  starved = 0
  /** Asked before a failure is a violation. */
  isStarved: () => boolean = () => false
  /** Set when the processes are being stopped. */
  isOver = false

  constructor(trace: Trace) {
    this.#trace = trace
  }

  get faults(): number {
    return [...this.fault_counts.values()].reduce((sum, count) => sum + count, 0)
  }

  violate(what: string, detail: unknown): void {
    const text = typeof detail === 'string' ? detail : JSON.stringify(detail, plain)
    this.violations.push({ what, detail: text })
    this.#trace.write({ what: 'violation', violation: what, detail: text })
  }

  openWindow(fault: string, components: readonly Component[]): { close(): void } {
    const window: Window = { fault, components, from: performance.now(), to: null }
    this.#windows.push(window)
    this.fault_counts.set(fault, (this.fault_counts.get(fault) ?? 0) + 1)
    this.#trace.write({ what: 'fault', fault, components })
    return {
      close: () => {
        window.to = performance.now()
        this.#trace.write({ what: 'healed', fault })
      },
    }
  }

  /** The faults that are active now, for the coverage table. */
  activeFaults(): string[] {
    return this.#windows.flatMap(({ to, fault }) => (to === null ? [fault] : []))
  }

  /** True while a fault that clients may notice is active. */
  isDisturbed(): boolean {
    return this.#windows.some(({ to, components }) => to === null && components.length > 0)
  }

  /** An acknowledged operation and its outcome. */
  count(operation: string, outcome: string): void {
    this.operations += 1
    const outcomes = this.outcomes.get(operation) ?? new Map<string, number>()
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    this.outcomes.set(operation, outcomes)
    for (const fault of this.activeFaults()) {
      this.combinations.add(`${operation}|${outcome}|${fault}`)
    }
  }

  /** An attempt that got no answer or a system failure; only a fault excuses it. */
  fail(attempt: { operation: string; node: 0 | 1; began: number; reason: string }): void {
    if (this.isOver) return
    this.failures += 1
    const { operation, node, began, reason } = attempt
    const components: Component[] = [node === 0 ? 'node0' : 'node1', 'database']
    const excuse = this.#windows.findLast(
      ({ components: touched, to }) =>
        touched.some((component) => components.includes(component)) &&
        (to === null || began < to + RECOVERY_MS),
    )
    this.#trace.write({ what: 'failure', operation, node, reason, excuse: excuse?.fault ?? null })
    const isLate = /response code 91|timeout|recorded nothing|^503/i.test(reason)
    if (excuse === undefined && isLate && this.isStarved()) {
      this.starved += 1
    } else if (excuse === undefined) {
      this.violate('a failure outside a fault window', `${operation} on node ${node}: ${reason}`)
    } else if (excuse.to !== null) {
      this.slowest_recovery_ms = Math.max(this.slowest_recovery_ms, began - excuse.to)
    }
  }

  /** An operation that still fails although it was repeated on both nodes. */
  isStuck(began: number): boolean {
    return performance.now() - began > STUCK_MS
  }
}

const plain = (_name: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
