import type { Grant } from '#panel/grants.ts'
import { monthName } from '#panel/pages/spending/months.ts'
import { useAgentLines } from '#panel/pages/statements/agent_lines.ts'
import { serviceNow } from '#panel/service_clock.ts'
import { Money } from '#panel/ui/money.tsx'
import type { DescriptionRow } from '#panel/ui/section.tsx'

/** The spending of the agent and its cards in this month (UTC); empty until it is loaded. */
export function useAgentSpending({ client_id }: Grant): DescriptionRow[] {
  const period = new Date(serviceNow()).toISOString().slice(0, 7)
  const lines = useAgentLines(period).data
  if (lines === undefined) return []
  const line = lines.find((each) => each.client_id === client_id)
  // Amounts of a statement are negative if money left the account.
  const spent_usd = line === undefined ? 0 : -line.spent_usd
  return [[`Spent in ${monthName(period)}`, <Money key="spent" usd={spent_usd} />]]
}
