import { routes } from '#contract/routes.ts'
import type { Monitor } from './monitor.ts'

type Row = { times: number; outcomes: Map<string, number>; faults: Set<string> }

/** Which operations had which outcomes, and during which faults; over several rounds. */
export class Coverage {
  readonly #rows = new Map<string, Row>()
  readonly #combinations = new Set<string>()
  readonly #faults = new Map<string, number>()

  add(monitor: Monitor): void {
    for (const [operation, outcomes] of monitor.outcomes) {
      const row = this.#rows.get(operation) ?? { times: 0, outcomes: new Map(), faults: new Set() }
      this.#rows.set(operation, row)
      for (const [outcome, times] of outcomes) {
        row.times += times
        row.outcomes.set(outcome, (row.outcomes.get(outcome) ?? 0) + times)
      }
    }
    for (const combination of monitor.combinations) {
      this.#combinations.add(combination)
      const [operation = '', , fault = ''] = combination.split('|')
      this.#rows.get(operation)?.faults.add(fault)
    }
    for (const [fault, times] of monitor.fault_counts) {
      this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + times)
    }
  }

  /** Operations of the contract that no client called. */
  missing(): string[] {
    return Object.keys(routes).filter((name) => !this.#rows.has(name))
  }

  get combinations(): number {
    return this.#combinations.size
  }

  /** A Markdown table of operations, and the faults below it. */
  table(): string {
    const lines = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(lineOf)
    const faults = [...this.#faults].sort(([, a], [, b]) => b - a)
    return [
      '| operation or message | times | outcomes | during faults |',
      '|---|---|---|---|',
      ...lines,
      '',
      `Faults: ${faults.map(([fault, times]) => `${fault} ${times}`).join(', ')}.`,
      `Not called: ${this.missing().join(', ') || 'none'}.`,
    ].join('\n')
  }
}

const OUTCOMES_SHOWN = 8

function lineOf([operation, { times, outcomes, faults }]: [string, Row]): string {
  const sorted = [...outcomes].sort(([, a], [, b]) => b - a)
  const shown = sorted.slice(0, OUTCOMES_SHOWN).map(([outcome, count]) => `${outcome} ${count}`)
  const others = sorted.length - shown.length
  const rest = others > 0 ? `, ${others} more` : ''
  return `| ${operation} | ${times} | ${shown.join(', ')}${rest} | ${faults.size} |`
}
