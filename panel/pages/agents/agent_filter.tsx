import { agentName, useGrants } from '#panel/grants.ts'
import { FilterSelect, type Filters } from '#panel/ui/filters.tsx'

type Props<Name extends string> = { of: Pick<Filters<Name>, 'values' | 'set'>; name: Name }

/** Filters a list by agent. An agent with several grants is one option. */
export function AgentFilter<Name extends string>({ of, name }: Props<Name>) {
  const grants = useGrants().data ?? []
  const names = new Map(grants.toReversed().map((grant) => [grant.client_id, agentName(grant)]))
  const chosen = of.values[name]
  if (chosen !== '' && !names.has(chosen)) names.set(chosen, chosen)
  if (names.size === 0) return null
  return <FilterSelect of={of} name={name} label="Agent" any="All agents" options={[...names]} />
}
