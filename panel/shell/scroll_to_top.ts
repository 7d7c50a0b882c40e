import { useEffect } from 'react'

/** The router tells of its own steps by an event of this name. */
const STEP = 'pushState'

/** A new page begins at its top. Going back leads to where one was: browsers do that themselves. */
export function useScrollToTop(): void {
  useEffect(() => {
    const toTop = () => window.scrollTo(0, 0)
    addEventListener(STEP, toTop)
    return () => removeEventListener(STEP, toTop)
  }, [])
}
