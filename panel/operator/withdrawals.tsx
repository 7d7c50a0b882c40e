import { Banknote } from 'lucide-react'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { FilterBar, FilterChoice, useFilters } from '#panel/ui/filters.tsx'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ActButton } from './act_button.tsx'
import { useOperatorList } from './operator_list.ts'
import type { Owned } from './shapes.ts'

type Row = Owned<Withdrawal> & { in_review: boolean }

const statuses = [
  ['review', 'Needs review'],
  ['pending', 'Pending'],
  ['broadcasted', 'Sent'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const

const columns: readonly Column<Row>[] = [
  { title: 'To', cell: ({ address }) => <Copyable text={address} label="Copy address" /> },
  {
    title: 'Status',
    wide_only: true,
    cell: (row) => <Status of={statusOf(row)} />,
  },
  { title: 'Requested', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Amount', right: true, cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  {
    title: 'Actions',
    right: true,
    cell: (row) => (row.in_review || isHeld(row)) && <Decide of={row} />,
  },
]

/** Held until the account is reinstated: it can be refused and not approved. */
const isHeld = ({ status_reason }: Row) => status_reason === 'account_suspended'

function statusOf(row: Row): string {
  if (isHeld(row)) return 'suspended'
  return row.in_review ? 'review' : row.status
}

function Decide({ of }: { of: Row }) {
  const changes = ['/withdrawals']
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      {!isHeld(of) && (
        <ActButton
          verb="Approve"
          path={`/withdrawals/${of.id}/approve`}
          changes={changes}
          done="Withdrawal approved."
        >
          <Money usd={of.amount_usd} /> will be sent to {of.address}. You can’t reverse a transfer.
        </ActButton>
      )}
      <ActButton
        verb="Reject"
        danger
        path={`/withdrawals/${of.id}/refuse`}
        changes={changes}
        done="Withdrawal rejected."
      >
        The full amount returns to the customer’s balance.
      </ActButton>
    </span>
  )
}

export function Withdrawals() {
  const filters = useFilters(['status'])
  const list = useOperatorList<Row>('/withdrawals', filters.given)
  return (
    <>
      <PageHeader
        title="Withdrawals"
        note="Withdrawals above the review threshold need your approval."
      />
      <Section flush>
        <FilterBar {...filters}>
          <FilterChoice
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
            <Empty icon={Banknote} title="No withdrawals">
              Customer withdrawals show up here.
            </Empty>
          }
        />
      </Section>
    </>
  )
}
