import { Link } from 'wouter'
import type { AuditEntry } from '#contract/activity.ts'
import { describeDevice } from '#kernel/device.ts'
import { useOperationList } from '#panel/queries.ts'
import { Badge, type Tone } from '#panel/ui/badge.tsx'
import { LogIn } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'

const SHOWN = 10

/** Creating an account signs in too. */
const outcomes: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  'account.created': ['Account created', 'good'],
  'session.created': ['Signed in', 'good'],
  'session.failed': ['Failed', 'bad'],
  reset_password: ['Password reset', 'warn'],
}

const columns: readonly Column<AuditEntry>[] = [
  { title: 'Device', cell: (entry) => <Origin entry={entry} /> },
  { title: 'Result', cell: (entry) => <Outcome entry={entry} /> },
  {
    title: 'Date',
    right: true,
    wide_only: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

function Origin({ entry: { ip, user_agent, created_at } }: { entry: AuditEntry }) {
  return (
    <>
      <span title={user_agent ?? ''}>{describeDevice(user_agent ?? '')}</span>
      <span className="num block min-w-22 text-sm wrap-anywhere text-soft">{ip ?? ''}</span>
      <span className="num block text-sm text-soft md:hidden">
        <Time at={created_at} />
      </span>
    </>
  )
}

function Outcome({ entry: { action, result } }: { entry: AuditEntry }) {
  const [label, tone] = outcomes[action] ?? [action, 'neutral']
  if (result === 'success' || action === 'session.failed') return <Badge tone={tone}>{label}</Badge>
  return <Badge tone="bad">{label} failed</Badge>
}

export function RecentSignIns() {
  const action = Object.keys(outcomes).join(',')
  const list = useOperationList('get_audit_log', { action, limit: SHOWN })
  const audit_log = (
    <Link href="/developers/audit" className="text-sm font-medium text-accent underline">
      Audit log
    </Link>
  )
  return (
    <Section title="Recent sign-ins" action={audit_log} flush>
      <Table
        label="Recent sign-ins"
        list={list}
        columns={columns}
        empty={
          <EmptyState icon={LogIn} title="No sign-ins">
            Sign-ins and failed attempts show up here.
          </EmptyState>
        }
      />
    </Section>
  )
}
