import { useSyncExternalStore } from 'react'
import { classes } from './classes.ts'
import { CircleAlert, CircleCheck } from './icons.ts'

type Toast = { id: number; text: string; tone: 'good' | 'bad' }

const SHOWN_MS = 5_000
let toasts: readonly Toast[] = []
let next_id = 0
const listeners = new Set<() => void>()

function setToasts(changed: readonly Toast[]): void {
  toasts = changed
  for (const notify of listeners) notify()
}

/** A short confirmation or error. Text that users must read belongs in the page. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  const id = next_id
  next_id += 1
  setToasts([...toasts, { id, text, tone }].slice(-3))
  setTimeout(() => setToasts(toasts.filter((each) => each.id !== id)), SHOWN_MS)
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify)
  return () => listeners.delete(notify)
}

/** Renders the toasts. Mounted once, at the root. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-20 z-60 flex flex-col items-center gap-2 px-4 lg:bottom-6"
    >
      {shown.map(({ id, text, tone }) => {
        const Icon = tone === 'good' ? CircleCheck : CircleAlert
        return (
          <p
            key={id}
            className="rise pointer-events-auto flex max-w-md items-center gap-2.5 rounded-lg border border-line bg-sheet px-3.5 py-2.5 text-ink shadow-lg"
          >
            <Icon
              aria-hidden
              className={classes('size-4 shrink-0', tone === 'good' ? 'text-good' : 'text-bad')}
            />
            {text}
          </p>
        )
      })}
    </div>
  )
}
