import { useEffect } from 'react'

/**
 * Where consent leads back to, in a window of its own: it hands the answer over. Whoever opened it
 * closes it: one that closes itself may be gone before its answer is heard, and is then nobody's.
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
