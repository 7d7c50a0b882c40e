import { USD } from '#test/simulation/model/amounts.ts'
import type { Step } from './steps.ts'

/** A run as text: one line a step, with its response. Repeats and batches are visible by name. */
export function traceOf(steps: readonly Step[], responses: readonly string[]): string {
  const lines = steps.map(({ at, batch, command }, index) => {
    const { op, ...fields } = command
    const head = `${String(index + 1).padStart(4)}  ${new Date(at).toISOString()}  batch ${batch}`
    const response = responses[index] ?? '(no response)'
    return `${head}  ${op} ${fieldsText(fields)}\n      ${response}`
  })
  return lines.join('\n')
}

/** Amounts in micro-dollars are shown in dollars. */
const IN_MICROS: ReadonlySet<string> = new Set([
  ...['amount', 'micros', 'load', 'per_transaction', 'daily', 'monthly'],
])

function fieldsText(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${valueText(name, value)}`)
    .join(' ')
}

function valueText(name: string, value: unknown): string {
  if (typeof value === 'bigint') return IN_MICROS.has(name) ? dollarsText(value) : `${value}`
  if (Array.isArray(value)) return `[${value.join()}]`
  if (typeof value === 'object' && value !== null) return `{${fieldsText(value)}}`
  return String(value)
}

function dollarsText(micros: bigint): string {
  const fraction = String(micros % USD).padStart(6, '0')
  return `$${micros / USD}.${fraction.replace(/0{0,4}$/, '')}`
}
