import { useLocation, useSearch } from 'wouter'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { useOperationList } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { ArrowUpFromLine } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { createdRange, PeriodFilter, period_filter_names } from '#panel/ui/period.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { AgentFilter } from './agents/agent_filter.tsx'
import { withdrawal_csv_columns } from './csv_columns.ts'
import { WithdrawalStatus } from './withdrawal.tsx'
import { WithdrawForm } from './withdrawals/withdraw_form.tsx'

const columns: readonly Column<Withdrawal>[] = [
  {
    title: 'To',
    sortKey: ({ address }) => address,
    cell: ({ address, created_at }) => (
      <>
        <Address text={address} />
        <span className="num block text-sm font-normal text-soft md:hidden">
          <Time at={created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: (withdrawal) => <WithdrawalStatus of={withdrawal} />,
  },
  {
    title: 'Date',
    sortKey: ({ created_at }) => created_at,
    wide_only: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: 'Fee',
    sortKey: ({ fee_usd }) => fee_usd,
    wide_only: true,
    right: true,
    cell: ({ fee_usd, status }) =>
      status === 'failed' ? (
        <span className="text-soft">None</span>
      ) : (
        <Money usd={fee_usd} className="text-soft" />
      ),
  },
  {
    title: 'You receive',
    sortKey: ({ amount_usd, net_usd, status }) => (status === 'failed' ? amount_usd : net_usd),
    right: true,
    cell: ({ amount_usd, net_usd, status }) =>
      status === 'failed' ? (
        <span className="text-soft">
          <Money usd={amount_usd} className="line-through" />
          <span className="block text-sm">Returned</span>
        </span>
      ) : (
        <Money usd={net_usd} />
      ),
  },
]

/** Shortened in the middle, because people compare both ends of an address. */
const Address = ({ text }: { text: string }) => (
  <code className="font-mono text-sm" title={text}>
    {text.slice(0, 6)}…{text.slice(-6)}
  </code>
)

const statuses = [
  ['pending', 'Pending'],
  ['broadcasted', 'Sent'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const

export function Withdrawals() {
  const [, navigate] = useLocation()
  const is_withdrawing = new URLSearchParams(useSearch()).has('withdraw')
  const filters = useFilters(['status', 'agent', ...period_filter_names])
  const { status, agent } = filters.active
  const input = {
    ...(status !== undefined && { status }),
    ...(agent !== undefined && { agent }),
    ...createdRange(filters.values),
  }
  const list = useOperationList('list_withdrawals', input)
  const withdraw = (
    <Button kind="main" onClick={() => navigate('/withdrawals?withdraw')}>
      <ArrowUpFromLine /> Withdraw
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Withdrawals"
        description="Send USDT from your balance to your wallet."
        action={
          <>
            <ExportCsv
              name="list_withdrawals"
              input={input}
              columns={withdrawal_csv_columns}
              file_name="withdrawals.csv"
            />
            {withdraw}
          </>
        }
      />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect
            of={filters}
            name="status"
            label="Status"
            any="All statuses"
            options={statuses}
          />
          <AgentFilter of={filters} name="agent" />
          <PeriodFilter {...filters} />
        </FilterBar>
        <Table
          label="Withdrawals"
          list={list}
          columns={columns}
          empty={<NoWithdrawals is_filtered={filters.count > 0} />}
          href={({ id }) => `/withdrawals/${id}`}
        />
      </Section>
      {is_withdrawing && (
        <WithdrawForm onClose={() => navigate('/withdrawals', { replace: true })} />
      )}
    </>
  )
}

function NoWithdrawals({ is_filtered }: { is_filtered: boolean }) {
  return is_filtered ? (
    <NoResults icon={ArrowUpFromLine} />
  ) : (
    <EmptyState icon={ArrowUpFromLine} title="No withdrawals yet">
      Send USDT from your balance to any TRON wallet.
    </EmptyState>
  )
}
