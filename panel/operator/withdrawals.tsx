import type { Withdrawal } from '#contract/withdrawals.ts'
import { Status } from '#panel/ui/badge.tsx'
import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Banknote } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { customer_column, PhoneNote } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import type { WithAccount } from './shapes.ts'

export type OperatorWithdrawal = WithAccount<Withdrawal> & { in_review: boolean }
type Row = OperatorWithdrawal

const statuses = [
  ['review', 'Needs review'],
  ['pending', 'Pending'],
  ['broadcasted', 'Sent'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const

const columns: readonly Column<Row>[] = [
  {
    title: 'To',
    cell: (row) => (
      <>
        <Copyable text={row.address} label="Copy address" />
        <PhoneNote row={row} />
        <span className="md:hidden">
          <Status of={displayStatus(row)} />
        </span>
      </>
    ),
  },
  customer_column,
  {
    title: 'Status',
    wide_only: true,
    cell: (row) => <Status of={displayStatus(row)} />,
  },
  createdColumn('Requested'),
  amount_column,
  {
    title: 'Actions',
    right: true,
    cell: (row) => (row.in_review || isHeld(row)) && <RowActions withdrawal={row} />,
  },
]

/** A withdrawal of a suspended account can be refused, but not approved. */
const isHeld = ({ status_reason }: Row) => status_reason === 'account_suspended'

export function displayStatus(row: Row): string {
  if (isHeld(row)) return 'suspended'
  return row.in_review ? 'review' : row.status
}

/** Its transfer is final, but it isn't the one that was requested. */
const isMismatch = ({ status_reason }: Row) => status_reason === 'transfer_mismatch'

function RowActions({ withdrawal }: { withdrawal: Row }) {
  return isMismatch(withdrawal) ? (
    <MismatchActions withdrawal={withdrawal} />
  ) : (
    <ReviewActions withdrawal={withdrawal} />
  )
}

const invalidates = ['/withdrawals', '/accounts']

function MismatchActions({ withdrawal: { id, txid } }: { withdrawal: Row }) {
  const advice = (
    <>
      The transfer {txid} is final, but it isn’t the one that was requested. Look at it on the
      blockchain first.
    </>
  )
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      <ActionButton
        label="Mark as sent"
        title="Mark withdrawal as sent?"
        path={`/withdrawals/${id}/approve`}
        invalidates={invalidates}
        success_message="Withdrawal marked as sent."
      >
        {advice} Nothing is sent again.
      </ActionButton>
      <ActionButton
        label="Return money"
        title="Return the money?"
        danger
        path={`/withdrawals/${id}/refuse`}
        invalidates={invalidates}
        success_message="Money returned."
      >
        {advice} If coins arrived, the customer is paid twice.
      </ActionButton>
    </span>
  )
}

function ReviewActions({ withdrawal }: { withdrawal: Row }) {
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      {!isHeld(withdrawal) && (
        <ActionButton
          label="Approve"
          title="Approve withdrawal?"
          path={`/withdrawals/${withdrawal.id}/approve`}
          invalidates={invalidates}
          success_message="Withdrawal approved."
        >
          <Money usd={withdrawal.net_usd} /> will be sent to {withdrawal.address}. You can’t reverse
          a transfer.
        </ActionButton>
      )}
      <ActionButton
        label="Refuse"
        title="Refuse withdrawal?"
        danger
        path={`/withdrawals/${withdrawal.id}/refuse`}
        invalidates={invalidates}
        success_message="Withdrawal refused."
      >
        The full amount returns to the customer’s balance.
      </ActionButton>
    </span>
  )
}

export function Withdrawals() {
  const filters = useFilters(['status'])
  const list = useOperatorList<Row>('/withdrawals', filters.active)
  return (
    <>
      <PageHeader
        title="Withdrawals"
        description="Withdrawals above the review threshold, and those that could not be sent or settled, need your decision."
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
        </FilterBar>
        <Table
          label="Withdrawals"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={Banknote} title="No withdrawals">
              Customer withdrawals show up here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
