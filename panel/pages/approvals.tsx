import type { Approval } from '#contract/approvals.ts'
import { typographic } from '#kernel/typographic.ts'
import { useOperationList } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { CircleCheckBig } from '#panel/ui/icons.ts'
import { formatUsd } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { PendingApproval } from './approvals/pending_approval.tsx'
import { approval_csv_columns } from './csv_columns.ts'

/** `id` is the approval that an email or an agent links to. */
export function Approvals({ id }: { id: string }) {
  return (
    <>
      <PageHeader
        title="Approvals"
        description="Agents ask you here before they move more than their budget."
        action={
          <ExportCsv
            name="list_approvals"
            input={{}}
            columns={approval_csv_columns}
            file_name="approvals.csv"
          />
        }
      />
      <div className="space-y-4">
        <Pending linked_id={id} />
        <Decided />
      </div>
    </>
  )
}

function Pending({ linked_id }: { linked_id: string }) {
  const { rows, problem, retry } = useOperationList('list_approvals', { status: 'pending' })
  if (rows === undefined) {
    if (problem !== null) return <ErrorState problem={problem} retry={retry} />
    return <Skeleton className="h-32" />
  }
  if (rows.length === 0) {
    return (
      <Section flush>
        <EmptyState icon={CircleCheckBig} title="Nothing to approve">
          When an agent asks for more than its budget, approve or decline the request here.
        </EmptyState>
      </Section>
    )
  }
  return (
    <ul aria-label="Pending approvals" className="space-y-4">
      {rows.map((approval) => (
        <PendingApproval
          key={approval.id}
          approval={approval}
          is_linked={approval.id === linked_id}
        />
      ))}
    </ul>
  )
}

const columns: readonly Column<Approval>[] = [
  {
    title: 'Request',
    sortKey: ({ summary }) => summary,
    cell: ({ summary }) => <span className="wrap-anywhere">{typographic(summary)}</span>,
  },
  {
    title: 'Amount',
    wide_only: true,
    right: true,
    cell: ({ amount_usd }) => <span className="num">{formatUsd(amount_usd)}</span>,
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Asked',
    wide_only: true,
    right: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

function Decided() {
  const list = useOperationList('list_approvals', { status: 'approved,declined,expired,used' })
  if (list.rows?.length === 0) return null
  return (
    <Section title="Earlier requests" flush>
      <Table label="Earlier requests" list={list} columns={columns} empty={null} />
    </Section>
  )
}
