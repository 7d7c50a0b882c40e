import { useEffect } from 'react'

/**
 * The redirect URI of the consent window. It posts the response to the opener, which then closes
 * the window: a window that closes itself may be gone before the message is delivered.
 */
export function RevealReturn() {
  useEffect(() => {
    const answer = Object.fromEntries(new URLSearchParams(location.search))
    history.replaceState(null, '', '/reveal')
    ;(opener as Window | null)?.postMessage({ florin_reveal: answer }, location.origin)
  }, [])
  return (
    <main className="grid min-h-dvh place-items-center p-6 text-center text-soft">
      <h1 className="text-base">You can close this window.</h1>
    </main>
  )
}
