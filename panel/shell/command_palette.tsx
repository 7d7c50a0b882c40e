import * as Dialog from '@radix-ui/react-dialog'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { classes } from '#panel/ui/classes.ts'
import { useFocusReturn } from '#panel/ui/focus_return.ts'
import { Search } from '#panel/ui/icons.ts'
import { navigation_routes } from './navigation.tsx'
import { actions } from './search/actions.ts'
import { SEARCHED_MAX } from './search/newest_rows.ts'
import { type Result, useResults } from './search/results.ts'

type Props = { open: boolean; onOpenChange(open: boolean): void; onSandbox?(): void }

/** Finds pages, actions, objects of the account and documentation. Opens with `/` or Ctrl-K. */
export function CommandPalette({ open, onOpenChange, onSandbox }: Props) {
  useShortcut(() => onOpenChange(true))
  const { noteOpener, returnFocus } = useFocusReturn()
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <div className="fixed inset-0 z-40 bg-veil" data-locks-scroll aria-hidden />
        <Dialog.Content
          aria-describedby={undefined}
          className="rise fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-xl overflow-hidden rounded-2xl border border-line bg-sheet text-ink shadow-2xl outline-none"
          onOpenAutoFocus={noteOpener}
          onCloseAutoFocus={returnFocus}
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Commands onDone={() => onOpenChange(false)} {...(onSandbox && { onSandbox })} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useShortcut(run: () => void): void {
  useEffect(() => {
    const onKeyDown = (key: globalThis.KeyboardEvent) => {
      const is_typing = (key.target as Element).closest('input, textarea, select, [role=dialog]')
      const is_chord = (key.ctrlKey || key.metaKey) && key.key === 'k'
      if (!is_chord && (key.key !== '/' || is_typing !== null)) return
      key.preventDefault()
      run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  })
}

const page_results: readonly Result[] = navigation_routes.map(({ title = '', path }) => ({
  group: 'Pages',
  text: title,
  hint: '',
  to: path,
}))
/** Without a page, it opens the sandbox drawer. */
const sandbox_results: readonly Result[] = [
  { group: 'Actions', text: 'Simulate activity', hint: 'Sandbox', to: '' },
  { group: 'Actions', text: 'Read your emails', hint: 'Sandbox inbox', to: '/inbox' },
]

/** Requests follow the typing at this distance. */
const PAUSE_MS = 150

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function Commands({ onDone, onSandbox }: { onDone(): void; onSandbox?(): void }) {
  const id = useId()
  const [, navigate] = useLocation()
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState('')
  const commands = [
    ...page_results,
    ...actions,
    ...(onSandbox === undefined ? [] : sandbox_results),
  ]
  const settled = useSettled(query)
  const { results, cut } = useResults({ text: query, settled, commands })
  // A result stays selected when others arrive above it.
  const chosen_index = results.findIndex((result) => keyOf(result) === chosen)
  const selected_index = Math.max(0, chosen_index)
  const run = ({ to }: Result) => {
    onDone()
    if (to === '') onSandbox?.()
    // The documentation is not part of the panel, so it is loaded like any other site.
    else if (to.startsWith('/docs')) location.assign(to)
    else navigate(to)
  }
  const onKeyDown = (key: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key]
    const selected = results[selected_index]
    const next = results.at((selected_index + (step ?? 0)) % results.length)
    if (step !== undefined) setChosen(next === undefined ? '' : keyOf(next))
    else if (key.key === 'Enter' && selected !== undefined) run(selected)
    else return
    key.preventDefault()
  }
  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-4 text-soft">
        <Search className="size-4 shrink-0" aria-hidden />
        <input
          role="combobox"
          aria-label={LABEL}
          aria-expanded={results.length > 0}
          aria-controls={results.length > 0 ? id : undefined}
          aria-activedescendant={results.length > 0 ? `${id}-${selected_index}` : undefined}
          placeholder={LABEL}
          className="h-12 w-full min-w-0 bg-transparent text-lg text-ink outline-none placeholder:text-soft"
          value={query}
          onChange={(change) => {
            setQuery(change.target.value)
            setChosen('')
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {results.length > 0 ? (
        <Results id={id} results={results} selected_index={selected_index} onSelect={run} />
      ) : (
        <p className="px-3 py-6 text-center text-soft">
          {settled === query ? 'No results' : 'Searching…'}
        </p>
      )}
      {cut.length > 0 && query !== '' && (
        <p className="border-t border-line px-4 py-2 text-sm text-soft">
          Searched the newest {SEARCHED_MAX.toLocaleString('en-US')} {cut.join(', ')}. For older
          ones, use the filters of the list.
        </p>
      )}
      <p role="status" className="sr-only">
        {settled === query ? `${results.length} results` : ''}
      </p>
    </>
  )
}

const keyOf = ({ to, text }: Result) => `${to} ${text}`

const LABEL = 'Search purchases, cards, docs…'

type ResultsProps = {
  id: string
  results: readonly Result[]
  selected_index: number
  onSelect(result: Result): void
}

function Results({ id, results, selected_index, onSelect }: ResultsProps) {
  const groups = [...new Set(results.map(({ group }) => group))]
  return (
    <div id={id} role="listbox" aria-label="Results" className="max-h-[60vh] overflow-y-auto p-2">
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: options of a listbox cannot be in a fieldset.
        <div key={group} role="group" aria-label={group}>
          <p aria-hidden className="px-3 pt-2 pb-1 text-sm font-medium text-soft">
            {group}
          </p>
          {results.map((result, index) =>
            result.group === group ? (
              <Option
                key={keyOf(result)}
                id={`${id}-${index}`}
                result={result}
                is_selected={index === selected_index}
                onSelect={() => onSelect(result)}
              />
            ) : null,
          )}
        </div>
      ))}
    </div>
  )
}

type OptionProps = { id: string; result: Result; is_selected: boolean; onSelect(): void }

function Option({ id, result, is_selected, onSelect }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the input, which has the focus.
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={is_selected}
      ref={(option) => {
        if (is_selected) option?.scrollIntoView({ block: 'nearest' })
      }}
      onClick={onSelect}
      className={classes(
        'flex min-h-10 cursor-pointer justify-between gap-x-4 rounded-lg px-3 max-sm:flex-col max-sm:py-1.5 sm:items-center',
        is_selected ? 'bg-hover' : 'hover:bg-hover',
      )}
    >
      <span className="min-w-0 truncate">{result.text}</span>
      <span className="num shrink-0 text-sm text-soft">{result.hint}</span>
    </div>
  )
}
