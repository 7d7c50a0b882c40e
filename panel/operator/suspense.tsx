import { HandCoins } from 'lucide-react'
import { inWords } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ActButton } from './act_button.tsx'
import { useOperatorList } from './operator_list.ts'
import type { HeldDeposit } from './shapes.ts'

const columns: readonly Column<HeldDeposit>[] = [
  {
    title: 'From',
    cell: ({ from_address }) => <Copyable text={from_address} label="Copy sender address" />,
  },
  { title: 'Reason', wide_only: true, cell: ({ reason }) => inWords(reason) },
  { title: 'Received', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Amount', right: true, cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  { title: 'Actions', right: true, cell: (row) => <Decide of={row} /> },
]

function Decide({ of }: { of: HeldDeposit }) {
  const changes = ['/suspense']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      <ActButton
        verb="Release"
        path={`/suspense/${of.id}/release`}
        changes={changes}
        done="Deposit credited."
      >
        <Money usd={of.amount_usd} /> will be credited to the customer’s balance.
      </ActButton>
      <ActButton
        verb="Refund"
        danger
        path={`/suspense/${of.id}/refund`}
        changes={changes}
        done="Refund to sender started."
      >
        <Money usd={of.amount_usd} /> will be sent back to {of.from_address}. You can’t reverse a
        transfer.
      </ActButton>
    </span>
  )
}

export function Suspense() {
  return (
    <>
      <PageHeader title="Suspense" note="Deposits held for review before they’re credited." />
      <Section flush>
        <Table
          label="Deposits in suspense"
          list={useOperatorList<HeldDeposit>('/suspense')}
          columns={columns}
          empty={
            <Empty icon={HandCoins} title="No deposits in suspense">
              Deposits that are below the minimum, flagged by screening, or received while top-ups
              are stopped wait here.
            </Empty>
          }
        />
      </Section>
    </>
  )
}
