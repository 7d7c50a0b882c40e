import { Undo2 } from 'lucide-react'
import { Copyable } from '#panel/ui/copy.tsx'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ActButton } from './act_button.tsx'
import { useOperatorList } from './operator_list.ts'
import type { HeldRefund } from './shapes.ts'

const columns: readonly Column<HeldRefund>[] = [
  {
    title: 'Merchant',
    cell: ({ merchant_name }) => <span className="font-medium wrap-anywhere">{merchant_name}</span>,
  },
  {
    title: 'Card',
    wide_only: true,
    cell: ({ card_id }) => <Copyable text={card_id} label="Copy the card ID" />,
  },
  { title: 'Received', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Amount', right: true, cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  { title: 'Actions', right: true, cell: (row) => <Decide of={row} /> },
]

function Decide({ of }: { of: HeldRefund }) {
  const changes = ['/held_refunds']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      <ActButton
        verb="Approve"
        path={`/held_refunds/${of.id}/approve`}
        changes={changes}
        done="Refund approved. It’ll be credited within seconds."
      >
        <Money usd={of.amount_usd} /> from {of.merchant_name} will be credited to the card.
      </ActButton>
      <ActButton
        verb="Reject"
        danger
        path={`/held_refunds/${of.id}/refuse`}
        changes={changes}
        done="Refund rejected."
      >
        <Money usd={of.amount_usd} /> from {of.merchant_name} won’t be credited. Settle it with the
        network directly.
      </ActButton>
    </span>
  )
}

export function HeldRefunds() {
  return (
    <>
      <PageHeader
        title="Refunds"
        note="Refunds without a matching purchase aren’t credited until you approve them."
      />
      <Section flush>
        <Table
          label="Refunds awaiting approval"
          list={useOperatorList<HeldRefund>('/held_refunds')}
          columns={columns}
          empty={
            <Empty icon={Undo2} title="No refunds awaiting approval">
              Refunds that match a purchase are credited automatically.
            </Empty>
          }
        />
      </Section>
    </>
  )
}
