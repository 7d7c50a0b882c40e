import { Link } from 'wouter'
import { Badge, Status } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { EmailAddress } from '#panel/ui/email_address.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { Users } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { AccountLimits } from './account_limits.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import { SearchBar } from './search_bar.tsx'
import type { OperatorAccount } from './shapes.ts'

const statuses = [
  ['active', 'Active'],
  ['suspended', 'Suspended'],
] as const

function BalanceOrDebt({ account: { balance_usd, owed_usd } }: { account: OperatorAccount }) {
  if (owed_usd === 0) return <Money usd={balance_usd} />
  return (
    <Badge tone="bad">
      Owes <Money usd={owed_usd} />
    </Badge>
  )
}

const columns: readonly Column<OperatorAccount>[] = [
  {
    title: 'Email',
    cell: (row) => (
      <>
        <Link href={`/accounts/${row.id}`} className="block py-1 font-medium hover:underline">
          <EmailAddress of={row.email} />
        </Link>
        <span className="flex gap-2 text-sm md:hidden">
          <Status of={row.status} /> <BalanceOrDebt account={row} />
        </span>
        <span className="hidden md:block">
          <Copyable text={row.id} label="Copy account ID" />
        </span>
      </>
    ),
  },
  {
    title: 'Status',
    wide_only: true,
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Balance',
    wide_only: true,
    right: true,
    cell: (row) => <BalanceOrDebt account={row} />,
  },
  { title: 'Actions', right: true, cell: (row) => <AccountActions account={row} /> },
]

export function AccountActions({ account }: { account: OperatorAccount }) {
  const is_active = account.status === 'active'
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      <AccountLimits account={account} />
      <ActionButton
        label={is_active ? 'Suspend' : 'Reinstate'}
        title={is_active ? 'Suspend account?' : 'Reinstate account?'}
        danger={is_active}
        path={`/accounts/${account.id}/${is_active ? 'suspend' : 'reinstate'}`}
        invalidates={['/accounts', '/withdrawals']}
        success_message={is_active ? 'Account suspended.' : 'Account reinstated.'}
      >
        {is_active
          ? `${account.email} can’t sign in, use the API, or make purchases until reinstated.`
          : `${account.email} can sign in, use the API, and make purchases again.`}
      </ActionButton>
    </span>
  )
}

export function Accounts() {
  const filters = useFilters(['email', 'status', 'account_id'])
  const list = useOperatorList<OperatorAccount>('/accounts', filters.active)
  return (
    <>
      <PageHeader title="Accounts" description="Set limits, suspend, or reinstate accounts." />
      <Section flush>
        <SearchBar filters={filters} name="email" label="Email" statuses={statuses} />
        <Table
          label="Accounts"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={Users} title="No accounts found">
              Search by the full email address.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
