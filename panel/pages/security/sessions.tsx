import { useState } from 'react'
import type { ActiveSession } from '#contract/sessions.ts'
import { describeDevice } from '#kernel/device.ts'
import { useOperationList, useOperationMutation } from '#panel/queries.ts'
import { clearSession } from '#panel/session.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { MonitorSmartphone } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { EndOtherSessions } from './end_other_sessions.tsx'

export function Sessions() {
  const list = useOperationList('list_sessions', {})
  const rows = list.rows?.toSorted((one, other) => Number(other.current) - Number(one.current))
  const [ending, setEnding] = useState<ActiveSession | null>(null)
  const columns: Column<ActiveSession>[] = [
    { title: 'Device', cell: (session) => <Device session={session} /> },
    {
      title: 'Signed in',
      wide_only: true,
      sortKey: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      title: 'Last used',
      wide_only: true,
      sortKey: ({ last_used_at }) => last_used_at,
      cell: ({ last_used_at }) => <Time at={last_used_at} />,
    },
    {
      title: 'Actions',
      right: true,
      cell: (session) => (
        <Button size="small" onClick={() => setEnding(session)}>
          Sign out<span className="sr-only"> {describeDevice(session.user_agent)}</span>
        </Button>
      ),
    },
  ]
  const has_others = rows?.some(({ current }) => !current) ?? false
  return (
    <Section title="Sessions" action={has_others && <EndOtherSessions />} flush>
      <Table
        label="Sessions"
        list={{ ...list, rows }}
        columns={columns}
        empty={
          <EmptyState icon={MonitorSmartphone} title="No sessions">
            Devices you sign in on show up here.
          </EmptyState>
        }
      />
      {ending !== null && <EndSession session={ending} onClose={() => setEnding(null)} />}
    </Section>
  )
}

function Device({
  session: { current, ip, user_agent, last_used_at },
}: {
  session: ActiveSession
}) {
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 font-medium" title={user_agent}>
        {describeDevice(user_agent)}
        {current && <Badge tone="good">This device</Badge>}
      </span>
      <span className="num block text-sm break-all text-soft">{ip}</span>
      <span className="num block text-sm text-soft md:hidden">
        Last used <Time at={last_used_at} />
      </span>
    </>
  )
}

function EndSession({ session, onClose }: { session: ActiveSession; onClose(): void }) {
  const { current, id, ip, created_at, user_agent } = session
  const revoke_session = useOperationMutation('revoke_session', {
    onSuccess: () => {
      toast(current ? 'Signed out.' : 'Session ended.')
      onClose()
      if (current) clearSession()
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={current ? 'Sign out on this device?' : `Sign out ${describeDevice(user_agent)}?`}
      confirm_label="Sign out"
      danger
      busy={revoke_session.isPending}
      problem={revoke_session.error}
      onConfirm={() => revoke_session.mutate({ id })}
    >
      {current ? (
        <p>You’ll need your password to sign in again.</p>
      ) : (
        <p>
          Signed in from <span className="num break-all">{ip}</span>, <Time at={created_at} />. It’s
          signed out immediately. If you don’t recognize it, change your password too.
        </p>
      )}
    </ConfirmDialog>
  )
}
