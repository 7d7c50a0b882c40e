import { type ReactNode, useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { Field, Select } from './field.tsx'
import { ListFilter, Search } from './icons.ts'

export type Filters<Name extends string> = {
  values: Record<Name, string>
  /** Only the filters with a value, as input for list operations. */
  active: Partial<Record<Name, string>>
  count: number
  set(name: Name, value: string): void
  clear(): void
}

/** They belong to the period, which counts as one filter. */
const period_parts: readonly string[] = ['from', 'to', 'zone']

/** Filters are kept in the URL, so a filtered list can be bookmarked and shared. */
export function useFilters<const Name extends string>(names: readonly Name[]): Filters<Name> {
  const [query, setQuery] = useSearchParams()
  const pairs = names.map((name) => [name, query.get(name) ?? ''] as const)
  const active = pairs.filter(([, value]) => value !== '')
  const change = (changed: Partial<Record<string, string>>) =>
    setQuery(
      (before) => {
        const all = { ...Object.fromEntries(before), ...changed }
        return new URLSearchParams(
          Object.entries(all).flatMap(([name, value = '']) =>
            value === '' ? [] : [[name, value]],
          ),
        )
      },
      { replace: true },
    )
  return {
    values: Object.fromEntries(pairs) as Record<Name, string>,
    active: Object.fromEntries(active) as Partial<Record<Name, string>>,
    count: active.filter(([name]) => !period_parts.includes(name)).length,
    set: (name, value) => change({ [name]: value }),
    clear: () => change(Object.fromEntries(names.map((name) => [name, '']))),
  }
}

type BarProps = { count: number; clear(): void; search?: ReactNode; children: ReactNode }

/** Above a table. On a phone the filters are behind a button, to leave room for the list. */
export function FilterBar({ count, clear, search, children }: BarProps) {
  const [is_open, setOpen] = useState(false)
  return (
    <search
      aria-label="Filters"
      className="flex flex-wrap items-center gap-2 border-b border-line p-3"
    >
      {search}
      <Button className="md:hidden" aria-expanded={is_open} onClick={() => setOpen(!is_open)}>
        <ListFilter />
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      <div
        className={classes(
          // On a wide screen the filters wrap together with the search and the clear button.
          'grid w-full grid-cols-2 gap-2 md:contents',
          !is_open && 'max-md:hidden',
        )}
      >
        {children}
      </div>
      {count > 0 && (
        <Button kind="quiet" className={is_open ? '' : 'max-md:hidden'} onClick={clear}>
          Clear
        </Button>
      )}
    </search>
  )
}

type FilterSelectProps<Name extends string> = {
  of: Pick<Filters<Name>, 'values' | 'set'>
  name: Name
  label: string
  /** The option for no filter: "All statuses". */
  any: string
  options: readonly (readonly [value: string, text: string])[]
}

export function FilterSelect<Name extends string>(props: FilterSelectProps<Name>) {
  const { of, name, label, any, options } = props
  return (
    <Select
      label={label}
      is_label_hidden
      className="md:w-auto md:max-w-48 md:[&_select]:field-sizing-content"
      value={of.values[name]}
      onChange={(change) => of.set(name, change.target.value)}
      options={[['', any], ...options]}
    />
  )
}

type SearchProps = { label: string; value: string; onChange(value: string): void }

const DEBOUNCE_MS = 300

/** Debounced: a request per keystroke would flash lists of half-typed words. */
export function FilterSearch({ label, value, onChange }: SearchProps) {
  const [text, setText] = useState(value)
  const [previous_value, setPreviousValue] = useState(value)
  if (previous_value !== value) {
    setPreviousValue(value)
    setText(value)
  }
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onChange(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <Field
      label={label}
      is_label_hidden
      type="search"
      placeholder={label}
      before={<Search aria-hidden />}
      className="min-w-0 flex-1 md:max-w-60 md:min-w-48"
      value={text}
      onChange={(change) => setText(change.target.value)}
    />
  )
}
