import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { Undo2 } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { merchantName, merchantText } from '#panel/words/merchant_name.ts'
import { customer_column, PhoneNote } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { CardLink } from './card_link.tsx'
import { useOperatorList } from './operator_list.ts'
import type { HeldRefund } from './shapes.ts'

const columns: readonly Column<HeldRefund>[] = [
  {
    title: 'Merchant',
    sortKey: merchantName,
    cell: (row) => (
      <>
        <span className="font-medium wrap-anywhere">{merchantName(row)}</span>
        <PhoneNote row={row} />
        <span className="block">
          <CardLink account_id={row.account_id} card_id={row.card_id} />
        </span>
      </>
    ),
  },
  customer_column,
  createdColumn('Received'),
  amount_column,
  { title: 'Actions', right: true, cell: (row) => <RowActions refund={row} /> },
]

function RowActions({ refund }: { refund: HeldRefund }) {
  const invalidates = ['/held_refunds']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      <ActionButton
        label="Approve"
        aria_label={`Approve refund from ${merchantText(refund)}`}
        title="Approve refund?"
        path={`/held_refunds/${refund.id}/approve`}
        invalidates={invalidates}
        success_message="Refund approved. It’ll be credited within seconds."
      >
        <Money usd={refund.amount_usd} /> from {merchantText(refund)} will be credited to the card.
      </ActionButton>
      <ActionButton
        label="Refuse"
        aria_label={`Refuse refund from ${merchantText(refund)}`}
        title="Refuse refund?"
        danger
        path={`/held_refunds/${refund.id}/refuse`}
        invalidates={invalidates}
        success_message="Refund refused."
      >
        <Money usd={refund.amount_usd} /> from {merchantText(refund)} won’t be credited. Settle it
        with the network directly.
      </ActionButton>
    </span>
  )
}

export function HeldRefunds() {
  return (
    <>
      <PageHeader
        title="Refunds"
        description="Refunds without a matching purchase aren’t credited until you approve them."
      />
      <Section flush>
        <Table
          label="Refunds awaiting approval"
          list={useOperatorList<HeldRefund>('/held_refunds')}
          columns={columns}
          empty={
            <EmptyState icon={Undo2} title="No refunds awaiting approval">
              Refunds that match a purchase are credited automatically.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
