import { agentName, type Grant } from '#panel/grants.ts'
import { Status } from '#panel/ui/badge.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { Bot } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { scopeList } from '#panel/words/scope_labels.ts'
import { AccountLink } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import { SearchBar } from './search_bar.tsx'
import type { WithAccount } from './shapes.ts'

type Row = WithAccount<Grant>

const statuses = [
  ['active', 'Active'],
  ['revoked', 'Revoked'],
] as const

const columns: readonly Column<Row>[] = [
  {
    title: 'Agent',
    cell: (row) => (
      <>
        <span className="font-medium wrap-anywhere">{agentName(row)}</span>
        <span className="block text-sm">
          <AccountLink of={row} />
        </span>
      </>
    ),
  },
  { title: 'Permissions', wide_only: true, cell: (row) => <GrantScopes grant={row} /> },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Last used',
    wide_only: true,
    right: true,
    cell: ({ last_used_at }) =>
      last_used_at === null ? <span className="text-soft">Never</span> : <Time at={last_used_at} />,
  },
  {
    title: 'Actions',
    right: true,
    cell: (row) =>
      row.status === 'active' && (
        <ActionButton
          label="Revoke"
          title={`Revoke access for ${agentName(row)}?`}
          aria_label={`Revoke ${agentName(row)}`}
          danger
          path={`/grants/${row.id}/revoke`}
          invalidates={['/grants']}
          success_message={`Access revoked for ${agentName(row)}.`}
        >
          Its tokens stop working immediately. The customer can connect it again.
        </ActionButton>
      ),
  },
]

function GrantScopes({ grant: { scopes, card_ids } }: { grant: Row }) {
  const count = card_ids?.length ?? 0
  const cards =
    card_ids === null ? 'All cards' : `${count} selected ${count === 1 ? 'card' : 'cards'}`
  return (
    <>
      <span className="block max-w-md text-sm wrap-anywhere">{scopeList(scopes)}</span>
      <span className="block text-sm text-soft">{cards}</span>
    </>
  )
}

export function Agents() {
  const filters = useFilters(['account_id', 'status'])
  const { account_id = '', ...others } = filters.active
  // The API rejects a partial ID, so it is not sent while it is being typed.
  const given = /^acct_\w{26}$/.test(account_id) ? { account_id, ...others } : others
  const list = useOperatorList<Row>('/grants', given)
  return (
    <>
      <PageHeader
        title="Agents"
        description="Agents that customers have connected to their accounts."
      />
      <Section flush>
        <SearchBar filters={filters} name="account_id" label="Account ID" statuses={statuses} />
        <Table
          label="Agents"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={Bot} title="No agents found">
              Agents that customers connect show up here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
