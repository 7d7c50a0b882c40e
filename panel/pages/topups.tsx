import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { Topup } from '#contract/topups.ts'
import { useOperationList, useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { ArrowDownToLine } from '#panel/ui/icons.ts'
import { formatUsd, Money, parseUsd } from '#panel/ui/money.tsx'
import { createdRange, PeriodFilter, period_filter_names } from '#panel/ui/period.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { AgentFilter } from './agents/agent_filter.tsx'
import { topup_csv_columns } from './csv_columns.ts'
import { TopupStatus } from './topups/topup_status.tsx'

const columns: readonly Column<Topup>[] = [
  {
    title: 'Amount',
    sortKey: ({ amount_usd }) => amount_usd,
    cell: ({ amount_usd }) => <Money usd={amount_usd} />,
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: (topup) => <TopupStatus topup={topup} />,
  },
  {
    title: 'Credited',
    sortKey: ({ credited_usd }) => credited_usd,
    right: true,
    wide_only: true,
    cell: ({ credited_usd }) => <Money usd={credited_usd} />,
  },
  {
    title: 'Created',
    right: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

const statuses = [
  ['awaiting', 'Awaiting deposit'],
  ['confirming', 'Confirming'],
  ['completed', 'Completed'],
  ['cancelled', 'Canceled or expired'],
  ['error', 'Failed'],
] as const

export function Topups() {
  const filters = useFilters(['status', 'agent', ...period_filter_names])
  const { status, agent } = filters.active
  const input = {
    ...(status !== undefined && { status }),
    ...(agent !== undefined && { agent }),
    ...createdRange(filters.values),
  }
  const list = useOperationList('list_topups', input)
  return (
    <>
      <PageHeader
        title="Top-ups"
        description="Send USDT and get the same amount in USD."
        action={
          <ExportCsv
            name="list_topups"
            input={input}
            columns={topup_csv_columns}
            file_name="topups.csv"
          />
        }
      />
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_1fr]">
        <NewTopup />
        <Section title="History" flush>
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
            label="Top-ups"
            list={list}
            columns={columns}
            href={({ id }) => `/topups/${id}`}
            empty={<NoTopups is_filtered={filters.count > 0} />}
          />
        </Section>
      </div>
    </>
  )
}

function NoTopups({ is_filtered }: { is_filtered: boolean }) {
  return is_filtered ? (
    <NoResults icon={ArrowDownToLine} />
  ) : (
    <EmptyState icon={ArrowDownToLine} title="No top-ups yet">
      Enter an amount to get a deposit address.
    </EmptyState>
  )
}

const SUGGESTED_USD = [50, 100, 250, 500]

function NewTopup() {
  const [amount, setAmount] = useState('')
  const [, navigate] = useLocation()
  const limits = useOperationQuery('get_limits', {}).data?.spend_limits
  const create_topup = useOperationMutation('create_topup', {
    onSuccess: ({ id }) => navigate(`/topups/${id}`),
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const amount_usd = parseUsd(amount)
    if (amount_usd !== null) create_topup.mutate({ amount_usd })
  }
  const hint =
    limits === undefined
      ? 'USDT on TRON'
      : `${formatUsd(limits.topup_min_usd)} to ${formatUsd(limits.topup_max_usd)} in USDT on TRON`
  return (
    <Section title="New top-up">
      <form onSubmit={submit} className="space-y-3">
        <MoneyField
          label="Amount"
          required
          value={amount}
          onChange={(change) => setAmount(change.target.value)}
          hint={hint}
          error={fieldError(create_topup.error, 'amount_usd')}
        />
        <div className="grid grid-cols-4 gap-2">
          {SUGGESTED_USD.map((usd) => (
            <Button key={usd} size="small" className="px-0" onClick={() => setAmount(String(usd))}>
              ${usd}
            </Button>
          ))}
        </div>
        <ProblemNote problem={create_topup.error} fields={['amount_usd']} />
        <Button type="submit" kind="main" className="w-full" busy={create_topup.isPending}>
          Get deposit address
        </Button>
      </form>
    </Section>
  )
}
