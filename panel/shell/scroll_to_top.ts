import { useEffect } from 'react'

/** wouter dispatches this event on each navigation. */
const NAVIGATION_EVENT = 'pushState'

/** Scrolls new pages to the top. Browsers restore the position on back and forward. */
export function useScrollToTop(): void {
  useEffect(() => {
    const scrollToTop = () => window.scrollTo(0, 0)
    addEventListener(NAVIGATION_EVENT, scrollToTop)
    return () => removeEventListener(NAVIGATION_EVENT, scrollToTop)
  }, [])
}
