import { Link } from 'wouter'
import { agentName, type Grant, useGrants } from '#panel/grants.ts'
import { useCardNames } from '#panel/pages/transactions/card_names.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Bot, ChevronRight } from '#panel/ui/icons.ts'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { scopeLabel } from '#panel/words/scope_labels.ts'
import { AgentBudget } from './agents/agent_budget.tsx'
import { useAgentSpending } from './agents/agent_spending.tsx'
import { RevokeButton } from './agents/revoke_button.tsx'
import { LastUse } from './developers/api_keys.tsx'

export function Agents() {
  const query = useGrants()
  return (
    <div className="space-y-4">
      <PageHeader
        title="Agents"
        description="Agents you connected, with their permissions, budgets, and activity."
      />
      <Section title="Connect an agent">
        <p className="mb-2 text-soft">
          Add this MCP server URL to your agent. You’ll choose what it can do and which cards it can
          use.
        </p>
        <Copyable text={`${location.origin}/mcp`} label="Copy MCP server URL" />
      </Section>
      <QueryBoundary query={query}>
        {(grants) =>
          grants.length === 0 ? (
            <Section flush>
              <EmptyState icon={Bot} title="No connected agents">
                Agents you connect show up here with their permissions.
              </EmptyState>
            </Section>
          ) : (
            <ul aria-label="Connected agents" className="grid items-start gap-4 lg:grid-cols-2">
              {grants.map((grant) => (
                <Agent key={grant.id} grant={grant} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
    </div>
  )
}

function Agent({ grant }: { grant: Grant }) {
  const card_names = useCardNames()
  const spending = useAgentSpending(grant)
  const cards = grant.card_ids?.map((id) => card_names.of(id)).join(', ') ?? 'All cards'
  const is_active = grant.status === 'active'
  return (
    <li>
      <Section
        title={
          <Link href={`/agents/${grant.id}`} className="flex items-center gap-1 hover:underline">
            {agentName(grant)}
            <ChevronRight className="size-4 text-soft" aria-hidden />
          </Link>
        }
        action={is_active ? <RevokeButton grant={grant} /> : <Status of={grant.status} />}
      >
        <ul aria-label="Permissions" className="mb-2 flex flex-wrap gap-1.5">
          {grant.scopes.map((scope) => (
            <li key={scope} title={scope}>
              <Badge tone={scope.endsWith(':read') ? 'neutral' : 'accent'}>
                {scopeLabel(scope)}
              </Badge>
            </li>
          ))}
        </ul>
        <AgentBudget grant={grant} />
        <DescriptionList
          rows={[
            ...spending,
            ['Cards', cards],
            ['Last used', <LastUse key="used" {...grant} />],
            ['Connected', <Time key="connected" at={grant.created_at} />],
            is_active && ['Expires', <Time key="ends" at={grant.expires_at} />],
            grant.revoked_at !== null && ['Revoked', <Time key="end" at={grant.revoked_at} />],
          ]}
        />
      </Section>
    </li>
  )
}
