import { type FormEvent, type KeyboardEvent, useState } from 'react'
import type { Card } from '#contract/cards.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { Field } from '#panel/ui/field.tsx'
import { Pencil } from '#panel/ui/icons.ts'
import { toast } from '#panel/ui/toast.tsx'

/** The card's name, edited in place. An empty name removes it. */
export function CardName({ card }: { card: Card }) {
  const [is_editing, setEditing] = useState(false)
  if (is_editing) return <NameForm card={card} onClose={() => setEditing(false)} />
  return (
    <span className="flex min-w-0 items-center gap-1">
      <span className="wrap-anywhere">{cardTitle(card)}</span>
      <Button
        kind="quiet"
        size="icon"
        aria-label="Rename card"
        className="-my-1.5"
        onClick={() => setEditing(true)}
      >
        <Pencil />
      </Button>
    </span>
  )
}

function NameForm({ card, onClose }: { card: Card; onClose(): void }) {
  const [name, setName] = useState(card.name ?? '')
  const update_card = useOperationMutation('update_card', {
    onSuccess: () => {
      toast('Card renamed.')
      onClose()
    },
    onError: ({ message }) => toast(message, 'bad'),
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const trimmed = name.trim()
    if (trimmed === (card.name ?? '')) onClose()
    else update_card.mutate({ id: card.id, name: trimmed === '' ? null : trimmed })
  }
  const cancelOnEscape = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') onClose()
  }
  return (
    <form onSubmit={submit} className="flex min-w-0 items-center gap-2 text-base font-normal">
      <Field
        label="Card name"
        is_label_hidden
        autoFocus
        maxLength={100}
        placeholder={`Card ${card.last4}`}
        className="w-44 sm:w-56"
        value={name}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={cancelOnEscape}
      />
      <Button type="submit" kind="main" size="small" busy={update_card.isPending}>
        Save
      </Button>
      <Button kind="quiet" size="small" onClick={onClose}>
        Cancel
      </Button>
    </form>
  )
}
