import { humanize } from '#panel/ui/badge.tsx'
import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { HandCoins } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { customer_column, PhoneNote } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import type { HeldDeposit } from './shapes.ts'

const reasons: Readonly<Record<string, string>> = {
  below_minimum: 'Below the minimum deposit',
  kill_switch: 'Top-ups were stopped',
  screening: 'Sender is on the screening list',
}

const reasonText = ({ reason }: HeldDeposit) => reasons[reason] ?? humanize(reason)

const columns: readonly Column<HeldDeposit>[] = [
  {
    title: 'From',
    cell: (row) => (
      <>
        <Copyable text={row.from_address} label="Copy sender address" />
        <span className="block text-sm md:hidden">{reasonText(row)}</span>
        <PhoneNote row={row} />
      </>
    ),
  },
  { title: 'Reason', wide_only: true, cell: reasonText },
  customer_column,
  createdColumn('Received'),
  amount_column,
  { title: 'Actions', right: true, cell: (row) => <RowActions deposit={row} /> },
]

function RowActions({ deposit }: { deposit: HeldDeposit }) {
  const invalidates = ['/suspense', '/accounts', '/withdrawals']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      <ActionButton
        label="Release"
        title="Release deposit?"
        path={`/suspense/${deposit.id}/release`}
        invalidates={invalidates}
        success_message="Deposit credited."
      >
        <Money usd={deposit.amount_usd} /> will be credited to the customer’s balance.
      </ActionButton>
      <ActionButton
        label="Refund"
        title="Refund deposit?"
        danger
        path={`/suspense/${deposit.id}/refund`}
        invalidates={invalidates}
        success_message="Refund to sender started."
      >
        <Money usd={deposit.amount_usd} /> will be sent back to {deposit.from_address}. You can’t
        reverse a transfer.
      </ActionButton>
    </span>
  )
}

export function Suspense() {
  return (
    <>
      <PageHeader
        title="Suspense"
        description="Deposits held for review before they’re credited."
      />
      <Section flush>
        <Table
          label="Deposits in suspense"
          list={useOperatorList<HeldDeposit>('/suspense')}
          columns={columns}
          empty={
            <EmptyState icon={HandCoins} title="No deposits in suspense">
              Deposits that are below the minimum, flagged by screening, or received while top-ups
              are stopped wait here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
