import { type FormEvent, useState } from 'react'
import type { AccountNote } from '#contract/operator/notes.ts'
import { Button } from '#panel/ui/button.tsx'
import { TextArea } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { operatorName } from '#panel/words/operator_name.ts'
import { useOperatorMutation } from './operator_api.ts'
import { useOperatorList } from './operator_list.ts'

/** The notes of operators about an account, newest first, and a field for another one. */
export function AccountNotes({ account_id }: { account_id: string }) {
  const path = `/accounts/${account_id}/notes`
  const { rows, problem, has_more, loadMore, is_loading_more } = useOperatorList<AccountNote>(path)
  return (
    <Section title="Notes">
      <NoteForm path={path} />
      <ProblemNote problem={problem} />
      {rows?.length === 0 && <p className="text-sm text-soft">No notes yet.</p>}
      <ul aria-label="Notes" className="space-y-3">
        {rows?.map((note) => (
          <li key={note.id} className="border-t border-line pt-3">
            <p className="text-sm whitespace-pre-wrap wrap-anywhere">{note.body}</p>
            <p className="mt-1 text-xs text-soft">
              {operatorName(note.author.name)} · <Time at={note.created_at} />
            </p>
          </li>
        ))}
      </ul>
      {has_more && (
        <Button size="small" className="mt-3" busy={is_loading_more} onClick={loadMore}>
          Show more
        </Button>
      )}
    </Section>
  )
}

function NoteForm({ path }: { path: string }) {
  const [body, setBody] = useState('')
  const add = useOperatorMutation<string>({
    method: 'POST',
    path: () => path,
    body: (text) => ({ body: text }),
    invalidates: [path],
    onSuccess: () => {
      setBody('')
      toast('Note saved.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    add.mutate(body.trim())
  }
  return (
    <form className="mb-4 space-y-3" onSubmit={submit}>
      <TextArea
        label="New note"
        hint="Only operators see notes. They cannot be changed later."
        required
        maxLength={5_000}
        value={body}
        onChange={(event) => setBody(event.target.value)}
      />
      <ProblemNote problem={add.error} />
      <Button type="submit" size="small" busy={add.isPending} disabled={body.trim() === ''}>
        Save note
      </Button>
    </form>
  )
}
