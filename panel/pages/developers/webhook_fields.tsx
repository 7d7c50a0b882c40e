import type { FlorinError } from '#client/client.ts'
import { Field } from '#panel/ui/field.tsx'
import { fieldError } from '#panel/ui/problem_note.tsx'
import { EventPicker } from './event_picker.tsx'

export type WebhookDraft = { url: string; description: string; events: readonly string[] }

type Props = {
  draft: WebhookDraft
  onChange(draft: WebhookDraft): void
  problem: FlorinError | null
}

export function WebhookFields({ draft, onChange, problem }: Props) {
  const change = (changed: Partial<WebhookDraft>) => onChange({ ...draft, ...changed })
  return (
    <>
      <Field
        label="Endpoint URL"
        type="url"
        required
        maxLength={2048}
        placeholder="https://shop.example/florin"
        value={draft.url}
        onChange={({ target }) => change({ url: target.value })}
        error={fieldError(problem, 'url')}
      />
      <Field
        label="Description (optional)"
        maxLength={500}
        placeholder="Shop back end"
        value={draft.description}
        onChange={({ target }) => change({ description: target.value })}
      />
      <EventPicker selected={draft.events} onChange={(events) => change({ events })} />
    </>
  )
}
