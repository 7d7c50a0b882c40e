import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import type { Ticket } from '#contract/support.ts'
import { useCardNames } from '#panel/pages/transactions/card_names.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { Field, Select, TextArea } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { category_options } from './categories.ts'

type Draft = { subject: string; message: string; category: Ticket['category']; card_id: string }

export function OpenTicket({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation()
  const [draft, setDraft] = useState<Draft>({
    subject: '',
    message: '',
    category: 'card',
    card_id: '',
  })
  const open_ticket = useOperationMutation('open_ticket', {
    onSuccess: ({ id }) => {
      toast('Ticket sent.')
      navigate(`/tickets/${id}`)
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const { card_id, ...rest } = draft
    open_ticket.mutate({ ...rest, ...(card_id !== '' && { card_id }) })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="New ticket"
      description="Don’t include card numbers or passwords."
    >
      <form onSubmit={submit} className="space-y-4">
        <TicketFields
          draft={draft}
          problem={open_ticket.error}
          onChange={(changed) => setDraft({ ...draft, ...changed })}
        />
        <ProblemNote problem={open_ticket.error} fields={['subject', 'message']} />
        <FormActions label="Send" busy={open_ticket.isPending} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type FieldsProps = {
  draft: Draft
  problem: FlorinError | null
  onChange(changed: Partial<Draft>): void
}

function TicketFields({ draft, problem, onChange }: FieldsProps) {
  const { options } = useCardNames()
  return (
    <>
      <Field
        label="Subject"
        required
        maxLength={200}
        value={draft.subject}
        onChange={({ target }) => onChange({ subject: target.value })}
        error={fieldError(problem, 'subject')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Topic"
          value={draft.category}
          onChange={({ target }) => onChange({ category: target.value as Ticket['category'] })}
          options={category_options}
        />
        <Select
          label="Card (optional)"
          value={draft.card_id}
          onChange={({ target }) => onChange({ card_id: target.value })}
          options={[['', 'None'], ...options]}
        />
      </div>
      <TextArea
        label="Message"
        required
        rows={6}
        maxLength={10_000}
        value={draft.message}
        onChange={({ target }) => onChange({ message: target.value })}
        error={fieldError(problem, 'message')}
      />
    </>
  )
}
