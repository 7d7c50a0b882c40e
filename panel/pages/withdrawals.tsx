import { ArrowUpFromLine } from 'lucide-react'
import { useState } from 'react'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { useOperationList } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Money } from '#panel/ui/money.tsx'
import { createdRange, PeriodFilter, period_filter_names } from '#panel/ui/period.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { WithdrawForm } from './withdrawals/withdraw_form.tsx'

const columns: readonly Column<Withdrawal>[] = [
  { title: 'To', cell: ({ address }) => <Address text={address} /> },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Date',
    wide_only: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: 'Fee',
    wide_only: true,
    right: true,
    cell: ({ fee_usd }) => <Money usd={fee_usd} className="text-soft" />,
  },
  { title: 'You receive', right: true, cell: ({ net_usd }) => <Money usd={net_usd} /> },
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
  const [is_dialog_open, setDialogOpen] = useState(false)
  const filters = useFilters(['status', ...period_filter_names])
  const { status } = filters.active
  const list = useOperationList('list_withdrawals', {
    ...(status !== undefined && { status }),
    ...createdRange(filters.values),
  })
  const withdraw = (
    <Button kind="main" onClick={() => setDialogOpen(true)}>
      <ArrowUpFromLine /> Withdraw
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Withdrawals"
        description="Send USDT from your balance to your wallet."
        action={withdraw}
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
      {is_dialog_open && <WithdrawForm onClose={() => setDialogOpen(false)} />}
    </>
  )
}

function NoWithdrawals({ is_filtered }: { is_filtered: boolean }) {
  return is_filtered ? (
    <EmptyState icon={ArrowUpFromLine} title="No results">
      Try changing or clearing your filters.
    </EmptyState>
  ) : (
    <EmptyState icon={ArrowUpFromLine} title="No withdrawals yet">
      Send USDT from your balance to any TRON wallet.
    </EmptyState>
  )
}
