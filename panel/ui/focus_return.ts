import { useRef } from 'react'

/** Radix returns the focus only to its own triggers, and would leave it nowhere. */
export function useFocusReturn(): { noteOpener(): void; returnFocus(closing: Event): void } {
  const opener = useRef<HTMLElement | null>(null)
  return {
    noteOpener: () => {
      const focused = document.activeElement as HTMLElement | null
      // The item of a menu is gone when the dialog closes; its button is still there.
      const menu_button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby')
      opener.current = menu_button == null ? focused : document.getElementById(menu_button)
    },
    returnFocus: (closing) => {
      closing.preventDefault()
      opener.current?.focus()
    },
  }
}
