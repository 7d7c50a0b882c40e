import { type FormEvent, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { Field, TextArea } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { useOperatorAct } from './operator_api.ts'
import { PlannedMaintenance } from './planned_maintenance.tsx'

type Plan = { starts_at: string; ends_at: string; message: string }

const NOTHING: Plan = { starts_at: '', ends_at: '', message: '' }

export function MaintenancePage() {
  return (
    <>
      <PageHeader
        title="Maintenance"
        note="We notify every account immediately by webhook and email."
      />
      <div className="grid gap-4 lg:grid-cols-2">
        <Section title="Schedule maintenance">
          <Announce />
        </Section>
        <PlannedMaintenance />
      </div>
    </>
  )
}

/** People plan in their own time; the service keeps UTC. */
const bodyOf = ({ starts_at, ends_at, message }: Plan) => ({
  starts_at: new Date(starts_at).toISOString(),
  ends_at: new Date(ends_at).toISOString(),
  message: message.trim(),
})

function Announce() {
  const [plan, setPlan] = useState(NOTHING)
  const act = useOperatorAct<Plan>({
    method: 'POST',
    path: () => '/maintenance',
    body: bodyOf,
    changes: ['/health'],
    done: () => {
      setPlan(NOTHING)
      toast('Maintenance announced to all accounts.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    act.mutate(plan)
  }
  const held = (name: keyof Plan) => ({
    required: true,
    value: plan[name],
    onChange: (event: { target: { value: string } }) =>
      setPlan({ ...plan, [name]: event.target.value }),
  })
  return (
    <form className="space-y-3" onSubmit={submit}>
      <Field label="Starts (your time zone)" type="datetime-local" {...held('starts_at')} />
      <Field label="Ends (your time zone)" type="datetime-local" {...held('ends_at')} />
      <TextArea label="Message" maxLength={1_000} {...held('message')} />
      <ProblemNote problem={act.error} />
      <Button type="submit" kind="main" busy={act.isPending}>
        Announce to all accounts
      </Button>
    </form>
  )
}
