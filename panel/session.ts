import { useSyncExternalStore } from 'react'

/**
 * The session's bearer is kept in sessionStorage. Unlike a cookie, the browser never attaches it to
 * requests from other sites. It belongs to one tab, survives a reload and ends with the tab. Memory
 * alone would ask for the password after every reload; localStorage would leave thirty days of
 * access on a shared computer. Injected scripts could read all of these, so the content security
 * policy allows only our own scripts.
 */
const KEY = 'florin_bearer'
const listeners = new Set<() => void>()

export const bearer = (): string | null => sessionStorage.getItem(KEY)

export function saveBearer(value: string): void {
  sessionStorage.setItem(KEY, value)
  for (const notify of listeners) notify()
}

/** Removes everything the tab has stored, not only the bearer. */
export function clearSession(): void {
  sessionStorage.clear()
  for (const notify of listeners) notify()
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify)
  return () => listeners.delete(notify)
}

export function useIsSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => bearer() !== null)
}
