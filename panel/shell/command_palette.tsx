import { Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useOperationQuery } from '#panel/queries.ts'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { classes } from '#panel/ui/classes.ts'
import { navigation_routes } from './navigation.tsx'

type Command = { text: string; hint: string; run(): void }
type Props = { open: boolean; onOpenChange(open: boolean): void; onSandbox?(): void }

const SHOWN_MAX = 30

/** Searches pages, cards and actions. Opens with `/` or Ctrl-K. */
export function CommandPalette({ open, onOpenChange, onSandbox }: Props) {
  useShortcut(() => onOpenChange(true))
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <div className="fixed inset-0 z-40 bg-veil" data-locks-scroll aria-hidden />
        <Dialog.Content
          aria-describedby={undefined}
          className="rise fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-lg overflow-hidden rounded-2xl border border-line bg-sheet text-ink shadow-2xl outline-none"
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

function useCommands(onDone: () => void, onSandbox?: () => void): Command[] {
  const [, navigate] = useLocation()
  const cards =
    useOperationQuery('list_cards', { status: 'active,frozen', limit: 100 }).data?.data ?? []
  const navigationCommand = (text: string, hint: string, to: string): Command => ({
    text,
    hint,
    run: () => {
      navigate(to)
      onDone()
    },
  })
  const openSandbox = () => {
    onDone()
    onSandbox?.()
  }
  return [
    ...navigation_routes.map(({ title = '', path }) => navigationCommand(title, 'Page', path)),
    navigationCommand('Issue a card', 'Action', '/cards?issue'),
    ...(onSandbox === undefined
      ? []
      : [{ text: 'Simulate activity', hint: 'Sandbox', run: openSandbox }]),
    ...cards.map((card) =>
      navigationCommand(cardTitle(card), `${card.brand} ${card.last4}`, `/cards/${card.id}`),
    ),
  ]
}

const matches = (query: string, { text, hint }: Command): boolean =>
  query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => `${text} ${hint}`.toLowerCase().includes(word))

function Commands({ onDone, onSandbox }: { onDone(): void; onSandbox?(): void }) {
  const id = useId()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(onDone, onSandbox)
  const results = commands.filter((command) => matches(query, command)).slice(0, SHOWN_MAX)
  const selected_index = Math.min(at, results.length - 1)
  const onKeyDown = (key: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key]
    if (step !== undefined)
      setAt((selected_index + step + results.length) % Math.max(1, results.length))
    else if (key.key === 'Enter') results[selected_index]?.run()
    else return
    key.preventDefault()
  }
  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-4 text-soft">
        <Search className="size-4 shrink-0" aria-hidden />
        <input
          role="combobox"
          aria-label="Search pages, cards, and actions"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={results.length > 0 ? `${id}-${selected_index}` : undefined}
          placeholder="Search pages, cards, and actions"
          className="h-12 w-full bg-transparent text-lg text-ink outline-none placeholder:text-soft"
          value={query}
          onChange={(change) => {
            setQuery(change.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Results id={id} results={results} selected_index={selected_index} />
    </>
  )
}

function Results({
  id,
  results,
  selected_index,
}: {
  id: string
  results: readonly Command[]
  selected_index: number
}) {
  return (
    <div id={id} role="listbox" aria-label="Results" className="max-h-[50vh] overflow-y-auto p-2">
      {results.map((command, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the input, which has the focus.
        <div
          key={`${command.text} ${command.hint}`}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === selected_index}
          ref={(option) => {
            if (index === selected_index) option?.scrollIntoView({ block: 'nearest' })
          }}
          onClick={command.run}
          className={classes(
            'flex h-10 cursor-pointer items-center justify-between rounded-lg px-3',
            index === selected_index ? 'bg-hover' : 'hover:bg-hover',
          )}
        >
          <span className="truncate">{command.text}</span>
          <span className="text-sm text-soft capitalize">{command.hint}</span>
        </div>
      ))}
      {results.length === 0 && <p className="px-3 py-6 text-center text-soft">No results</p>}
    </div>
  )
}
