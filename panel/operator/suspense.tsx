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
    cell: ({ from_address }) => <Copyable text={from_address} label="Copy the sender's address" />,
  },
  { title: 'Why', wide_only: true, cell: ({ reason }) => inWords(reason) },
  { title: 'Held', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Amount', right: true, cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  { title: 'Decide', right: true, cell: (row) => <Decide of={row} /> },
]

function Decide({ of }: { of: HeldDeposit }) {
  const changes = ['/suspense']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      <ActButton
        verb="Release"
        path={`/suspense/${of.id}/release`}
        changes={changes}
        done="Credited."
      >
        <Money usd={of.amount_usd} /> are credited to the holder's balance.
      </ActButton>
      <ActButton
        verb="Refund"
        danger
        path={`/suspense/${of.id}/refund`}
        changes={changes}
        done="It goes back to its sender."
      >
        <Money usd={of.amount_usd} /> go back to {of.from_address}. What is sent cannot be called
        back.
      </ActButton>
    </span>
  )
}

export function Suspense() {
  return (
    <>
      <PageHeader title="Suspense" note="Deposits that were not credited, and why." />
      <Section flush>
        <Table
          label="Deposits in suspense"
          list={useOperatorList<HeldDeposit>('/suspense')}
          columns={columns}
          empty={
            <Empty icon={HandCoins} title="Nothing is held">
              Deposits below the minimum, from listed senders or during a stop wait here.
            </Empty>
          }
        />
      </Section>
    </>
  )
}
