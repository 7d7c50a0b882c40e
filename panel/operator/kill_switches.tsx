import { useState } from 'react'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { Field } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorMutation, useOperatorQuery } from './operator_api.ts'

type KillSwitch = { rail: string; on: boolean; reason: string | null; changed_at: string | null }

export function KillSwitches() {
  const switches = useOperatorQuery<{ data: KillSwitch[] }>('/kill_switches')
  const [editing, setEditing] = useState<KillSwitch | null>(null)
  return (
    <>
      <PageHeader
        title="Kill switches"
        note="Stop new activity on a rail. Activity already in progress still completes."
      />
      <Section flush>
        {switches.data === undefined ? (
          switches.error === null ? (
            <Skeleton className="m-4 h-32" />
          ) : (
            <ErrorState problem={switches.error} retry={() => void switches.refetch()} />
          )
        ) : (
          <ul className="divide-y divide-line">
            {switches.data.data.map((each) => (
              <Line key={each.rail} of={each} onEdit={() => setEditing(each)} />
            ))}
          </ul>
        )}
      </Section>
      {editing !== null && <ReasonDialog of={editing} onDone={() => setEditing(null)} />}
    </>
  )
}

function Line({ of, onEdit }: { of: KillSwitch; onEdit(): void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="mr-auto">
        <p className="flex items-center gap-2 font-medium">
          {railLabel(of)}
          <Badge tone={of.on ? 'bad' : 'good'}>{of.on ? 'Stopped' : 'Running'}</Badge>
        </p>
        {of.changed_at !== null && (
          <p className="text-sm text-soft">
            {of.reason}, <Time at={of.changed_at} />
          </p>
        )}
      </div>
      <Button
        kind={of.on ? 'main' : 'plain'}
        aria-label={`${actionLabel(of)} ${of.rail}`}
        onClick={onEdit}
      >
        {actionLabel(of)}
      </Button>
    </li>
  )
}

const railLabel = ({ rail }: KillSwitch) => (rail === 'topups' ? 'Top-ups' : humanize(rail))
const actionLabel = ({ on }: KillSwitch) => (on ? 'Resume' : 'Stop')

/** A reason is asked for each way: it stands in the audit log. */
function ReasonDialog({ of, onDone }: { of: KillSwitch; onDone(): void }) {
  const [reason, setReason] = useState('')
  const mutation = useOperatorMutation<string>({
    method: 'PUT',
    path: () => `/kill_switches/${of.rail}`,
    body: (why) => ({ on: !of.on, reason: why }),
    invalidates: ['/kill_switches'],
    onSuccess: onDone,
  })
  return (
    <Dialog open onOpenChange={onDone} title={`${actionLabel(of)} ${railLabel(of).toLowerCase()}?`}>
      <form
        onSubmit={(form) => {
          form.preventDefault()
          mutation.mutate(reason)
        }}
      >
        <Field
          label="Reason"
          hint="Recorded in the audit log."
          required
          maxLength={500}
          value={reason}
          onChange={(change) => setReason(change.target.value)}
        />
        <ProblemNote problem={mutation.error} />
        <DialogActions>
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" kind={of.on ? 'main' : 'danger'} busy={mutation.isPending}>
            {actionLabel(of)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
