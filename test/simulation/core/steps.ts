import type { Command, Outcome, Rail } from '#test/simulation/model/commands.ts'

/**
 * A step of a run: a command at a time. Steps with the same batch are decided in one batch, as the
 * engine does. Steps name everything they refer to, so a run can be repeated without some of them.
 */
export type Step = { at: number; batch: number; command: Command | Control }

/** Commands without an account. */
export type Control =
  | { op: 'set_kill_switch'; rail: Rail; on: boolean }
  /** A webhook delivery failed; `random` is in parts of a million. */
  | { op: 'fail_delivery'; attempts: number; retry_after_ms: number | null; random: number }

/** The settings of a run. */
export type RunSettings = {
  partial_approvals: boolean
  refund_review_usd: number | null
  blocked_countries: readonly string[]
}

const CONTROLS: ReadonlySet<string> = new Set<Control['op']>(['set_kill_switch', 'fail_delivery'])

export const isControl = (command: Command | Control): command is Control =>
  CONTROLS.has(command.op)

/**
 * Outcomes are compared, stored and printed as text: JSON with amounts as strings. Written
 * without a replacer, which took 4 % of a run.
 */
export function outcomeText(outcome: Outcome): string {
  let fields = ''
  for (const [name, value] of Object.entries(outcome)) {
    if (value === undefined) continue
    const text = typeof value === 'bigint' ? `"${value}"` : JSON.stringify(value)
    fields += `${fields === '' ? '' : ','}"${name}":${text}`
  }
  return `{${fields}}`
}

/** `declined limit_daily`, `refused not_found`, `ok`. */
export function outcomeNameOf(text: string): string {
  if (!text.startsWith('{')) return 'done'
  const { result, code = '' } = JSON.parse(text) as { result: string; code?: string }
  return `${result} ${code}`.trim()
}
