import type { Command } from 'commander'
import { confirm } from '#cli/prompt.ts'
import { formatUsd } from './money.ts'

export const addYesOption = (command: Command): Command =>
  command.option('--yes', 'do not ask for confirmation')

/** Asks with the call's summary and input: `Permanently cancel a card (id card_…)?` */
export async function confirmCall(
  summary: string,
  input: Readonly<Record<string, unknown>>,
  options: { yes?: boolean },
): Promise<void> {
  const shown = Object.entries(input)
    .filter(([name, value]) => !/password|totp|token/.test(name) && typeof value !== 'object')
    .map(([name, value]) => {
      const isAmount = name.endsWith('_usd') && typeof value === 'number'
      return `${name} ${isAmount ? formatUsd(value) : value}`
    })
  const details = shown.length === 0 ? '' : ` (${shown.join(', ')})`
  await confirm(`${summary.replace(/\.(\s.*)?$/, '')}${details}?`, options)
}
