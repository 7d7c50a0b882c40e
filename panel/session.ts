import { useSyncExternalStore } from 'react'

/**
 * The session's bearer is kept in sessionStorage. Unlike a cookie, the browser never attaches it to
 * requests from other sites. It survives a reload and ends with the last tab: open tabs hand it to
 * a new one, and nothing is written to disk. Memory alone would ask for the password after every
 * reload; localStorage would leave thirty days of access on a shared computer. Injected scripts
 * could read all of these, so the content security policy allows only our own scripts.
 */
const KEY = 'florin_bearer'
const listeners = new Set<() => void>()

export const bearer = (): string | null => sessionStorage.getItem(KEY)

type TabMessage =
  | { type: 'bearer_wanted' }
  | { type: 'signed_in'; bearer: string }
  | { type: 'signed_out'; bearer: string }

let tabs: BroadcastChannel | undefined
const notifyTabs = (message: TabMessage) => tabs?.postMessage(message)

/** Another tab answers within milliseconds; without one, the page must not wait noticeably. */
const ANSWER_MS = 150

/** Connects to the tabs of the same origin, and takes over their session if this tab has none. */
export async function joinTabs(): Promise<void> {
  tabs = new BroadcastChannel('florin_session')
  tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    const own = bearer()
    if (data.type === 'bearer_wanted' && own !== null) {
      notifyTabs({ type: 'signed_in', bearer: own })
    }
    if (data.type === 'signed_in' && own === null) keepBearer(data.bearer)
    if (data.type === 'signed_out' && data.bearer === own) forgetSession()
  })
  if (bearer() !== null) return
  notifyTabs({ type: 'bearer_wanted' })
  await new Promise<void>((resolve) => {
    const stop = subscribe(resolve)
    setTimeout(() => {
      stop()
      resolve()
    }, ANSWER_MS)
  })
}

export function saveBearer(value: string): void {
  keepBearer(value)
  notifyTabs({ type: 'signed_in', bearer: value })
}

export function clearSession(): void {
  const own = bearer()
  forgetSession()
  if (own !== null) notifyTabs({ type: 'signed_out', bearer: own })
}

function keepBearer(value: string): void {
  sessionStorage.setItem(KEY, value)
  for (const notify of listeners) notify()
}

/** Removes everything the tab has stored, not only the bearer. */
function forgetSession(): void {
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
