import { Link } from 'wouter'
import type { ActivityEvent } from '#contract/activity.ts'
import type { Approval } from '#contract/approvals.ts'
import { typographic } from '#kernel/typographic.ts'
import { agentName, type Grant, useGrants } from '#panel/grants.ts'
import { useOperationList } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Status } from '#panel/ui/badge.tsx'
import { amount_column } from '#panel/ui/columns.tsx'
import { Bot, Check } from '#panel/ui/icons.ts'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { resourceHref } from './activity/resource_href.ts'
import { AgentBudget } from './agents/agent_budget.tsx'
import { AgentLinks } from './agents/agent_links.tsx'
import { useAgentSpending } from './agents/agent_spending.tsx'
import { RemoveScope, scopeSentence } from './agents/remove_scope.tsx'
import { RevokeButton } from './agents/revoke_button.tsx'
import { LastUse } from './developers/api_keys.tsx'
import { NotFound } from './not_found.tsx'
import { useCardNames } from './transactions/card_names.ts'

/** An agent's grant: what it may do, what it spent and asked for, and everything it did. */
export function AgentPage({ id }: { id: string }) {
  return (
    <>
      <BackLink href="/agents">Agents</BackLink>
      <QueryBoundary query={useGrants()}>
        {(grants) => {
          const grant = grants.find((each) => each.id === id)
          return grant === undefined ? <NotFound /> : <AgentDetails grant={grant} />
        }}
      </QueryBoundary>
    </>
  )
}

function AgentDetails({ grant }: { grant: Grant }) {
  const spending = useAgentSpending(grant)
  const is_active = grant.status === 'active'
  return (
    <>
      <PageHeader
        title={agentName(grant)}
        action={is_active ? <RevokeButton grant={grant} /> : <Status of={grant.status} />}
      />
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_1fr]">
        <div className="space-y-4">
          <Section title="Spending">
            <AgentBudget grant={grant} />
            <DescriptionList rows={spending} />
          </Section>
          <Access grant={grant} />
          <AgentLinks client_id={grant.client_id} />
        </div>
        <div className="min-w-0 space-y-4">
          <Requests client_id={grant.client_id} />
          <Actions client_id={grant.client_id} />
        </div>
      </div>
    </>
  )
}

function Access({ grant }: { grant: Grant }) {
  const card_names = useCardNames()
  // Without any permission the grant would be useless; "Revoke" ends it.
  const can_remove = grant.status === 'active' && grant.scopes.length > 1
  return (
    <Section title="Permissions">
      <ul aria-label="Permissions" className="mb-3 space-y-2">
        {grant.scopes.map((scope) => (
          <li key={scope} className="flex items-start gap-2 text-sm">
            <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
            <span className="min-w-0 grow">{scopeSentence(scope)}</span>
            {can_remove && <RemoveScope grant={grant} scope={scope} />}
          </li>
        ))}
      </ul>
      <DescriptionList
        rows={[
          [
            'Cards',
            grant.card_ids === null
              ? 'All cards'
              : grant.card_ids.map((id) => (
                  <Link key={id} href={`/cards/${id}`} className="block text-accent underline">
                    {card_names.of(id)}
                  </Link>
                )),
          ],
          ['Last used', <LastUse key="used" {...grant} />],
          ['Connected', <Time key="connected" at={grant.created_at} />],
          grant.status === 'active' && ['Expires', <Time key="ends" at={grant.expires_at} />],
          grant.revoked_at !== null && ['Revoked', <Time key="end" at={grant.revoked_at} />],
        ]}
      />
      <p className="mt-3 text-sm text-soft">To allow more, connect the agent again.</p>
    </Section>
  )
}

const request_columns: readonly Column<Approval>[] = [
  {
    title: 'Request',
    cell: ({ summary }) => <span className="wrap-anywhere">{typographic(summary)}</span>,
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Asked',
    wide_only: true,
    right: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  amount_column,
]

/** Hidden for an agent that never asked. */
function Requests({ client_id }: { client_id: string }) {
  const list = useOperationList('list_approvals', { agent: client_id })
  if (list.rows === undefined || list.rows.length === 0) return null
  return (
    <Section title="Approval requests" flush>
      <Table
        label="Requests"
        list={list}
        columns={request_columns}
        href={({ id }) => `/approvals/${id}`}
        empty={null}
      />
    </Section>
  )
}

const action_columns: readonly Column<ActivityEvent>[] = [
  {
    title: 'Action',
    sortKey: ({ message }) => message,
    cell: ({ message, created_at }) => (
      <>
        <span className="block wrap-anywhere">{typographic(message)}</span>
        <span className="block text-sm font-normal text-soft md:hidden">
          <Time at={created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'Date',
    wide_only: true,
    right: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  amount_column,
]

/** In words and with amounts; the audit log has every call, including those that were denied. */
function Actions({ client_id }: { client_id: string }) {
  const list = useOperationList('get_activity', { agent: client_id })
  return (
    <Section title="Activity" flush>
      <Table
        label="Actions"
        list={list}
        columns={action_columns}
        href={resourceHref}
        empty={
          <EmptyState icon={Bot} title="Nothing yet">
            Changes this agent makes show up here. The audit log has all its calls.
          </EmptyState>
        }
      />
    </Section>
  )
}
