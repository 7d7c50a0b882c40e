import { Link, useLocation } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { FilterSearch, useFilters } from '#panel/ui/filters.tsx'
import { Receipt } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { AccountLink } from './account_link.tsx'
import { CardLink } from './card_link.tsx'
import { useOperatorList } from './operator_list.ts'
import type { WithAccount } from './shapes.ts'

type Row = WithAccount<Transaction>

export const transaction_columns: readonly Column<Row>[] = [
  { title: 'Merchant', cell: (row) => <Merchant row={row} /> },
  { title: 'Type', wide_only: true, cell: ({ type }) => humanize(type) },
  {
    title: 'Status',
    wide_only: true,
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  createdColumn('Date'),
  amount_column,
]

function Merchant({ row }: { row: Row }) {
  const { account_id, card_id, id, type, status, decline_message, created_at } = row
  return (
    <>
      <span className="block font-medium wrap-anywhere">{merchantName(row)}</span>
      {decline_message !== null && (
        <span className="block text-sm text-soft">{decline_message}</span>
      )}
      <span className="num block text-sm text-soft md:hidden">
        {humanize(type)}, <Time at={created_at} /> <Status of={status} />
      </span>
      <span className="hidden md:block">
        <Copyable text={id} label="Copy transaction ID" />
      </span>
      <CardLink account_id={account_id} card_id={card_id} />
    </>
  )
}

/** Half an ID is not searched for while it is being typed. */
const ACCOUNT_ID = /^acct_[0-9a-z]{26}$/

export function Transactions() {
  const filters = useFilters(['account_id', 'card_id', 'transaction_id'])
  const { account_id } = filters.values
  const [, navigate] = useLocation()
  // Drops the other filters: the card of one account is none of another.
  const showAccount = (id: string) =>
    navigate(`/transactions?${new URLSearchParams({ account_id: id.trim() })}`, { replace: true })
  return (
    <>
      <PageHeader title="Transactions" description="Purchases and refunds of one account." />
      <Section flush>
        <search aria-label="Filters" className="flex items-center gap-2 border-b border-line p-3">
          <FilterSearch label="Account ID" value={account_id} onChange={showAccount} />
          {filters.count > 1 && (
            <Button kind="quiet" onClick={() => showAccount(account_id)}>
              Show all
            </Button>
          )}
        </search>
        {ACCOUNT_ID.test(account_id) ? (
          <TransactionTable filters={filters.active} />
        ) : (
          <EmptyState
            icon={Receipt}
            title="Choose an account"
            action={
              <Link href="/accounts" className="text-accent underline">
                View accounts
              </Link>
            }
          >
            Enter an account ID, or find the account by its email.
          </EmptyState>
        )}
      </Section>
    </>
  )
}

function TransactionTable({ filters }: { filters: Record<string, string> }) {
  const list = useOperatorList<Row>('/transactions', filters)
  const [first] = list.rows ?? []
  return (
    <>
      {first !== undefined && (
        <p className="border-b border-line px-4 py-2">
          Customer <AccountLink of={first} />
        </p>
      )}
      <Table
        label="Transactions"
        list={list}
        columns={transaction_columns}
        empty={
          <EmptyState icon={Receipt} title="No transactions">
            Purchases of this account show up here.
          </EmptyState>
        }
      />
    </>
  )
}
