import { useSyncExternalStore } from 'react'

/**
 * The bearer of the session lives in sessionStorage. There is no cookie that would be sent by
 * itself, so no other site can act with it; it is this tab's alone, survives a reload, and is gone
 * when the tab closes. In memory only, every reload would ask for the password (and people would
 * choose a worse one); localStorage would leave thirty days of access on a shared computer. A
 * script that ran in this page could use either, which is why the content security policy admits
 * no script but ours.
 */
const KEY = 'florin_bearer'
const listeners = new Set<() => void>()

export const bearer = (): string | null => sessionStorage.getItem(KEY)

export function keepBearer(value: string): void {
  sessionStorage.setItem(KEY, value)
  for (const tell of listeners) tell()
}

/** Everything that belonged to the session goes with it. */
export function dropSession(): void {
  sessionStorage.clear()
  for (const tell of listeners) tell()
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export function useIsSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => bearer() !== null)
}
