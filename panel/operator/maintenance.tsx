import { type FormEvent, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { Field, TextArea } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { useOperatorMutation } from './operator_api.ts'
import { PlannedMaintenance } from './planned_maintenance.tsx'

type Plan = { starts_at: string; ends_at: string; message: string }

const EMPTY_PLAN: Plan = { starts_at: '', ends_at: '', message: '' }

export function MaintenancePage() {
  return (
    <>
      <PageHeader
        title="Maintenance"
        description="We notify every account immediately by webhook and email."
      />
      <div className="grid gap-4 lg:grid-cols-2">
        <Section title="Schedule maintenance">
          <MaintenanceForm />
        </Section>
        <PlannedMaintenance />
      </div>
    </>
  )
}

/** datetime-local fields are in the operator's time zone; the API takes UTC. */
const requestBody = ({ starts_at, ends_at, message }: Plan) => ({
  starts_at: new Date(starts_at).toISOString(),
  ends_at: new Date(ends_at).toISOString(),
  message: message.trim(),
})

function MaintenanceForm() {
  const [plan, setPlan] = useState(EMPTY_PLAN)
  const mutation = useOperatorMutation<Plan>({
    method: 'POST',
    path: () => '/maintenance',
    body: requestBody,
    invalidates: ['/health'],
    onSuccess: () => {
      setPlan(EMPTY_PLAN)
      toast('Maintenance announced to all accounts.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    mutation.mutate(plan)
  }
  const fieldProps = (name: keyof Plan) => ({
    required: true,
    value: plan[name],
    error: fieldError(mutation.error, name),
    onChange: (event: { target: { value: string } }) =>
      setPlan({ ...plan, [name]: event.target.value }),
  })
  return (
    <form className="space-y-3" onSubmit={submit}>
      <Field label="Starts (your time zone)" type="datetime-local" {...fieldProps('starts_at')} />
      <Field label="Ends (your time zone)" type="datetime-local" {...fieldProps('ends_at')} />
      <TextArea label="Message" maxLength={1_000} {...fieldProps('message')} />
      <ProblemNote problem={mutation.error} fields={Object.keys(plan)} />
      <Button type="submit" kind="main" busy={mutation.isPending}>
        Announce to all accounts
      </Button>
    </form>
  )
}
