import { useState } from 'react'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
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
        description="Stop new activity on a rail. Activity already in progress still completes."
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
              <KillSwitchRow key={each.rail} kill_switch={each} onEdit={() => setEditing(each)} />
            ))}
          </ul>
        )}
      </Section>
      {editing !== null && <ReasonDialog kill_switch={editing} onDone={() => setEditing(null)} />}
    </>
  )
}

/** The effect of stopping each rail. */
const rail_effects: Readonly<Record<string, string>> = {
  authorizations: 'When stopped, new purchases are declined.',
  issuing: 'When stopped, no new cards are issued.',
  topups: 'When stopped, deposits wait in suspense.',
  withdrawals: 'When stopped, no new withdrawals are accepted or sent.',
}

function KillSwitchRow({ kill_switch, onEdit }: { kill_switch: KillSwitch; onEdit(): void }) {
  return (
    <li className="flex items-center gap-x-4 px-4 py-3">
      <div className="mr-auto min-w-0">
        <p className="flex items-center gap-2 font-medium">
          {railLabel(kill_switch)}
          <Badge tone={kill_switch.on ? 'bad' : 'good'}>
            {kill_switch.on ? 'Stopped' : 'Running'}
          </Badge>
        </p>
        <p className="text-sm text-soft">{rail_effects[kill_switch.rail]}</p>
        {kill_switch.changed_at !== null && (
          <p className="text-sm text-soft">
            {kill_switch.on ? 'Stopped' : 'Resumed'} <Time at={kill_switch.changed_at} />:{' '}
            {kill_switch.reason}
          </p>
        )}
      </div>
      <Button
        kind={kill_switch.on ? 'main' : 'plain'}
        aria-label={`${actionLabel(kill_switch)} ${kill_switch.rail}`}
        onClick={onEdit}
      >
        {actionLabel(kill_switch)}
      </Button>
    </li>
  )
}

const railLabel = ({ rail }: KillSwitch) => (rail === 'topups' ? 'Top-ups' : humanize(rail))
const actionLabel = ({ on }: KillSwitch) => (on ? 'Resume' : 'Stop')

/** The audit log records a reason for stopping and for resuming. */
function ReasonDialog({ kill_switch, onDone }: { kill_switch: KillSwitch; onDone(): void }) {
  const [reason, setReason] = useState('')
  const mutation = useOperatorMutation<string>({
    method: 'PUT',
    path: () => `/kill_switches/${kill_switch.rail}`,
    body: (reason_text) => ({ on: !kill_switch.on, reason: reason_text }),
    invalidates: ['/kill_switches'],
    onSuccess: onDone,
  })
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`${actionLabel(kill_switch)} ${railLabel(kill_switch).toLowerCase()}?`}
      description={kill_switch.on ? 'They work again immediately.' : rail_effects[kill_switch.rail]}
    >
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
        <FormActions
          label={actionLabel(kill_switch)}
          kind={kill_switch.on ? 'main' : 'danger'}
          busy={mutation.isPending}
          onCancel={onDone}
        />
      </form>
    </Dialog>
  )
}
