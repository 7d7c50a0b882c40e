import { event_types } from '#contract/events.ts'
import { humanize } from '#panel/ui/badge.tsx'

/** "*" does not include challenges: only endpoints that approve purchases subscribe to them. */
const CHALLENGE = 'three_ds.challenge'
const all_types = Object.entries(event_types)

export function describeEvents(events: readonly string[]): string {
  if (events.includes('*')) {
    return events.includes(CHALLENGE) ? 'All events and 3-D Secure challenges' : 'All events'
  }
  return events.length === 1 ? (events[0] ?? '') : `${events.length} events`
}

type Props = { selected: readonly string[]; onChange(selected: readonly string[]): void }

export function EventPicker({ selected, onChange }: Props) {
  const is_all_selected = selected.includes('*')
  const toggleEvent = (name: string, is_on: boolean) =>
    onChange(is_on ? [...selected, name] : selected.filter((each) => each !== name))
  const toggleAll = (is_on: boolean) =>
    onChange([...(is_on ? ['*'] : []), ...selected.filter((each) => each === CHALLENGE)])
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 text-sm font-medium">Events</legend>
      {/* The height cuts a row, which shows that the list scrolls. */}
      <div className="max-h-80 divide-y divide-line overflow-y-auto rounded-lg border border-line">
        <EventCheckbox
          name="All events"
          note="Includes event types added later."
          checked={is_all_selected}
          onChange={toggleAll}
        />
        {all_types.map(([name, note]) => (
          <EventCheckbox
            key={name}
            name={name}
            note={note}
            checked={is_all_selected || selected.includes(name)}
            disabled={is_all_selected}
            onChange={(is_on) => toggleEvent(name, is_on)}
          />
        ))}
        <EventCheckbox
          name={CHALLENGE}
          note="Asks this endpoint to approve online purchases."
          checked={selected.includes(CHALLENGE)}
          onChange={(is_on) => toggleEvent(CHALLENGE, is_on)}
        />
      </div>
    </fieldset>
  )
}

type EventCheckboxProps = {
  name: string
  note: string
  checked: boolean
  disabled?: boolean
  onChange(is_on: boolean): void
}

function EventCheckbox({ name, note, checked, disabled = false, onChange }: EventCheckboxProps) {
  return (
    <label className="flex cursor-pointer items-start gap-2.5 px-3 py-2 hover:bg-hover">
      <input
        type="checkbox"
        className="mt-1 size-4 shrink-0"
        aria-label={name.includes('.') ? name : humanize(name)}
        checked={checked}
        disabled={disabled}
        onChange={(change) => onChange(change.target.checked)}
      />
      <span className="min-w-0">
        <span className="block font-medium break-words">{name}</span>
        <span className="block text-sm text-soft">{note}</span>
      </span>
    </label>
  )
}
