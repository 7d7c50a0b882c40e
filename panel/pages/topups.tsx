import { ArrowDownToLine } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { Topup } from '#contract/topups.ts'
import { useOperationList, useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { formatUsd, Money, parseUsd } from '#panel/ui/money.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'

const columns: readonly Column<Topup>[] = [
  { title: 'Amount', cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Credited',
    right: true,
    wide_only: true,
    cell: ({ credited_usd }) => <Money usd={credited_usd} />,
  },
  { title: 'Created', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Topups() {
  const list = useOperationList('list_topups', {})
  return (
    <>
      <PageHeader title="Top-ups" description="Send USDT and get the same amount in USD." />
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_1fr]">
        <NewTopup />
        <Section title="History" flush>
          <Table
            label="Top-ups"
            list={list}
            columns={columns}
            href={({ id }) => `/topups/${id}`}
            empty={
              <EmptyState icon={ArrowDownToLine} title="No top-ups yet">
                Enter an amount to get a deposit address.
              </EmptyState>
            }
          />
        </Section>
      </div>
    </>
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
        />
        <div className="grid grid-cols-4 gap-2">
          {SUGGESTED_USD.map((usd) => (
            <Button key={usd} size="small" className="px-0" onClick={() => setAmount(String(usd))}>
              ${usd}
            </Button>
          ))}
        </div>
        <ProblemNote problem={create_topup.error} />
        <Button type="submit" kind="main" className="w-full" busy={create_topup.isPending}>
          Get deposit address
        </Button>
      </form>
    </Section>
  )
}
