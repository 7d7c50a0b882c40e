import type { AuditEntry } from '#contract/activity.ts'
import { AgentFilter } from '#panel/pages/agents/agent_filter.tsx'
import { audit_csv_columns } from '#panel/pages/csv_columns.ts'
import { useOperationList } from '#panel/queries.ts'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { DottedName } from '#panel/ui/dotted_name.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSearch, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { ScrollText } from '#panel/ui/icons.ts'
import { createdRange, PeriodFilter, period_filter_names } from '#panel/ui/period.tsx'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { operatorName } from '#panel/words/operator_name.ts'

const tones = { success: 'good', denied: 'warn', failure: 'bad' } as const

const columns: readonly Column<AuditEntry>[] = [
  { title: 'Action', cell: (entry) => <Action entry={entry} /> },
  { title: 'Actor', wide_only: true, cell: ({ actor }) => <Actor actor={actor} /> },
  {
    title: 'Result',
    cell: ({ result }) => <Badge tone={tones[result]}>{humanize(result)}</Badge>,
  },
  {
    title: 'IP address',
    wide_only: true,
    cell: ({ ip, user_agent }) => (
      <span className="num text-soft" title={user_agent ?? ''}>
        {ip ?? ''}
      </span>
    ),
  },
  {
    title: 'Hash',
    wide_only: true,
    cell: ({ hash }) => (
      <code className="font-mono text-sm text-soft" title={hash}>
        {hash.slice(0, 8)}
      </code>
    ),
  },
  {
    title: 'Date',
    right: true,
    sortKey: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

/** Two calls turn on two-factor authentication; the first only starts the setup. */
const notes: Readonly<Record<string, string>> = {
  enable_2fa: 'Two-factor setup started',
  'totp.enabled': 'Two-factor turned on',
  'totp.disabled': 'Two-factor turned off',
}

function Action({ entry: { action, resource, result } }: { entry: AuditEntry }) {
  const note = result === 'success' ? notes[action] : undefined
  return (
    <>
      <DottedName of={action} />
      {note !== undefined && <span className="block text-sm text-soft">{note}</span>}
      {resource !== null && (
        <code className="hidden font-mono text-xs break-all text-soft md:block">{resource.id}</code>
      )}
    </>
  )
}

const actor_labels: Record<AuditEntry['actor']['type'], string> = {
  session: 'You',
  api_key: 'API key',
  oauth_client: 'Agent',
  system: 'Florin',
  operator: 'Operator',
}

/** The client that the panel itself uses to show a card number. */
const PANEL = 'Florin panel'

function Actor({ actor }: { actor: AuditEntry['actor'] }) {
  return (
    <>
      {actor.name === PANEL ? actor_labels.session : actor_labels[actor.type]}
      {actor.name !== null && (
        <span className="block text-sm text-soft">{operatorName(actor.name)}</span>
      )}
    </>
  )
}

const results = [
  ['success', 'Success'],
  ['denied', 'Denied'],
  ['failure', 'Failure'],
] as const

export function AuditLog() {
  const filters = useFilters(['action', 'actor_type', 'actor_id', 'result', ...period_filter_names])
  const { period: _period, from: _from, to: _to, ...given } = filters.active
  const input = { ...given, ...createdRange(filters.values) }
  const list = useOperationList('get_audit_log', input)
  const { values, set } = filters
  return (
    <Section
      title="Audit log"
      flush
      action={
        <ExportCsv
          name="get_audit_log"
          input={input}
          columns={audit_csv_columns}
          file_name="audit_log.csv"
        />
      }
    >
      <FilterBar
        {...filters}
        search={
          <FilterSearch
            label="Search by action"
            value={values.action}
            onChange={(text) => set('action', text.trim())}
          />
        }
      >
        <FilterSelect
          of={filters}
          name="actor_type"
          label="Actor"
          any="All actors"
          options={Object.entries(actor_labels)}
        />
        <FilterSelect
          of={filters}
          name="result"
          label="Result"
          any="All results"
          options={results}
        />
        <AgentFilter of={filters} name="actor_id" />
        <PeriodFilter {...filters} />
      </FilterBar>
      <Table
        label="Audit log"
        list={list}
        columns={columns}
        empty={
          <EmptyState icon={ScrollText} title="No results">
            Enter the full action name, like session.failed, or change your filters.
          </EmptyState>
        }
      />
    </Section>
  )
}
