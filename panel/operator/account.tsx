import type { Dispute } from '#contract/disputes.ts'
import type { Ticket } from '#contract/support.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { EmailAddress } from '#panel/ui/email_address.tsx'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { rateProfileName } from './account_limits.tsx'
import { AccountNotes } from './account_notes.tsx'
import { AccountActions } from './accounts.tsx'
import { card_columns } from './cards.tsx'
import { limitName } from './limit_names.ts'
import { useOperatorQuery } from './operator_api.ts'
import { useOperatorList } from './operator_list.ts'
import { recipient_column } from './recipient_column.tsx'
import type { OperatorAccount } from './shapes.ts'
import { ticketStatusLabel } from './ticket_sheet.tsx'
import { transaction_columns } from './transactions.tsx'
import { displayStatus, type OperatorWithdrawal } from './withdrawals.tsx'

/** All that support needs about one customer. */
export function AccountPage({ id }: { id: string }) {
  const query = useOperatorQuery<OperatorAccount>(`/accounts/${id}`)
  return (
    <>
      <BackLink href="/accounts">Accounts</BackLink>
      <QueryBoundary query={query}>{(account) => <Details account={account} />}</QueryBoundary>
    </>
  )
}

function Details({ account }: { account: OperatorAccount }) {
  const of_account = { account_id: account.id }
  return (
    <>
      <PageHeader
        title={<EmailAddress of={account.email} />}
        tab={account.email}
        description={<Status of={account.status} />}
        action={<AccountActions account={account} />}
      />
      <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <div className="min-w-0 space-y-4">
          <ListSection title="Cards" path="/cards" filters={of_account} columns={card_columns} />
          <ListSection
            title="Transactions"
            path="/transactions"
            filters={of_account}
            columns={transaction_columns}
          />
          <ListSection
            title="Withdrawals"
            path="/withdrawals"
            filters={of_account}
            columns={withdrawal_columns}
          />
          <ListSection
            title="Disputes"
            path="/disputes"
            filters={of_account}
            columns={dispute_columns}
          />
          <ListSection
            title="Tickets"
            path="/tickets"
            filters={of_account}
            columns={ticket_columns}
          />
        </div>
        <div className="min-w-0 space-y-4">
          <Section title="Account">
            <DescriptionList rows={accountRows(account)} />
          </Section>
          <AccountNotes account_id={account.id} />
          <Section title="Limits">
            <DescriptionList rows={limitRows(account)} />
          </Section>
        </div>
      </div>
    </>
  )
}

type ListProps<Row> = {
  title: string
  path: string
  filters: Readonly<Record<string, string>>
  columns: readonly Column<Row>[]
}

/** Few, so that all lists are in reach; each loads more. */
const SHOWN = '8'

function ListSection<Row extends { id: string }>(props: ListProps<Row>) {
  const { title, path, filters, columns } = props
  const list = useOperatorList<Row>(path, { ...filters, limit: SHOWN })
  const empty = <p className="px-4 py-6 text-center text-soft">None</p>
  return (
    <Section title={title} flush>
      <Table label={title} list={list} columns={columns} empty={empty} />
    </Section>
  )
}

const withdrawal_columns: readonly Column<OperatorWithdrawal>[] = [
  recipient_column,
  {
    title: 'Status',
    sortKey: displayStatus,
    cell: (row) => <Status of={displayStatus(row)} />,
  },
  createdColumn('Requested'),
  amount_column,
]

const dispute_columns: readonly Column<Dispute & { merchant_name: string }>[] = [
  {
    title: 'Merchant',
    cell: (dispute) => (
      <>
        <span className="wrap-anywhere">{merchantName(dispute)}</span>
        <span className="block text-sm text-soft">
          {humanize(dispute.reason)}
          <span className="num md:hidden">
            {' '}
            · <Time at={dispute.created_at} />
          </span>
        </span>
      </>
    ),
  },
  { title: 'Status', cell: ({ status, outcome }) => <Status of={outcome ?? status} /> },
  createdColumn('Filed'),
  amount_column,
]

const ticket_columns: readonly Column<Ticket>[] = [
  { title: 'Subject', cell: ({ subject }) => <span className="wrap-anywhere">{subject}</span> },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} label={ticketStatusLabel(status)} />,
  },
  {
    title: 'Updated',
    right: true,
    sortKey: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
]

const accountRows = (account: OperatorAccount) =>
  [
    ['Balance', <Money key="balance" usd={account.balance_usd} className="font-medium" />],
    ['Owed', <Money key="owed" usd={account.owed_usd} />],
    ['Active cards', account.cards_count.active],
    ['Two-factor authentication', account.two_factor_enabled ? 'On' : 'Off'],
    ['Opened', <Time key="opened" at={account.created_at} />],
    ['Account ID', <Copyable key="id" text={account.id} label="Copy account ID" />],
  ] as const

/** A limit set for this account is marked; the others are the program's. */
const limitRows = ({ spend_limits, own_limits, rate_profile }: OperatorAccount) => [
  ...Object.entries(spend_limits).map(
    ([name, value]) =>
      [
        limitName(name),
        <span key={name} className="num">
          {name.endsWith('_usd') ? <Money usd={value} /> : value}
          {name in own_limits && <span className="text-soft"> (set for this account)</span>}
        </span>,
      ] as const,
  ),
  ['Rate profile', rateProfileName(rate_profile)] as const,
]
