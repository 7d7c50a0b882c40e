import { type KeyboardEvent, useState } from 'react'
import { typographic } from '#kernel/typographic.ts'
import { Field } from './field.tsx'
import { Search, X } from './icons.ts'

export type Option = readonly [code: string, name: string]

type Props = {
  label: string
  options: readonly Option[]
  nameOf(code: string): string
  selected: readonly string[]
  onChange(selected: string[]): void
  /** Accepts typed codes that are not in `options`, such as MCC ranges. */
  accepts?: RegExp
}

const SUGGESTIONS_MAX = 6

/** Multi-select with search by name or code. */
export function Picker({ label, options, nameOf, selected, onChange, accepts }: Props) {
  const [query, setQuery] = useState('')
  const found = searchOptions(options, query, selected, accepts)
  const add = (code: string) => {
    onChange([...selected, code])
    setQuery('')
  }
  const onKeyDown = (key: KeyboardEvent) => {
    if (key.key !== 'Enter') return
    key.preventDefault()
    const [first] = found
    if (first !== undefined) add(first[0])
  }
  return (
    <div className="space-y-2.5">
      {selected.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {selected.map((code) => (
            <li
              key={code}
              className="flex items-center gap-1 rounded-md bg-hover py-0.5 pr-0.5 pl-2 text-sm"
            >
              {nameOf(code)} <span className="num text-soft">{code}</span>
              <button
                type="button"
                aria-label={`Remove ${nameOf(code)}`}
                className="rounded p-1 text-soft hover:text-ink"
                onClick={() => onChange(selected.filter((each) => each !== code))}
              >
                <X className="size-3.5" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Field
        label={label}
        is_label_hidden
        placeholder={label}
        autoComplete="off"
        before={<Search aria-hidden />}
        value={query}
        onChange={(change) => setQuery(change.target.value)}
        onKeyDown={onKeyDown}
      />
      {query !== '' && <Suggestions found={found} onPick={add} />}
    </div>
  )
}

function Suggestions({ found, onPick }: { found: readonly Option[]; onPick(code: string): void }) {
  if (found.length === 0) return <p className="px-1 text-sm text-soft">No results</p>
  return (
    <ul className="overflow-hidden rounded-lg border border-line">
      {found.map(([code, name]) => (
        <li key={code}>
          <button
            type="button"
            className="flex h-9 w-full items-center justify-between gap-3 px-3 text-left hover:bg-hover focus-visible:outline-offset-[-2px]"
            onClick={() => onPick(code)}
          >
            <span className="truncate">{name}</span>
            <span className="num text-sm text-soft">{code}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

export function searchOptions(
  options: readonly Option[],
  query: string,
  selected: readonly string[],
  accepts: RegExp | undefined,
): Option[] {
  const text = typographic(query.trim().toLowerCase())
  if (text === '') return []
  const found = options.filter(
    ([code, name]) =>
      !selected.includes(code) &&
      (code.toLowerCase().startsWith(text) || name.toLowerCase().includes(text)),
  )
  const typed: Option[] =
    accepts?.test(text) === true && !found.some(([code]) => code === text)
      ? [[text, 'Custom code']]
      : []
  return [...found, ...typed].slice(0, SUGGESTIONS_MAX)
}
