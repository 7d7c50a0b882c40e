import { useSyncExternalStore } from 'react'

/** The theme follows the system unless the user picks one; the choice is kept in localStorage. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const KEY = 'florin_theme'
const listeners = new Set<() => void>()

const savedTheme = (): Theme =>
  themes.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'

export function applyTheme(): void {
  const theme = savedTheme()
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const notify of listeners) notify()
}

const dark = matchMedia('(prefers-color-scheme: dark)')

function subscribe(notify: () => void): () => void {
  listeners.add(notify)
  dark.addEventListener('change', notify)
  return () => {
    listeners.delete(notify)
    dark.removeEventListener('change', notify)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, savedTheme)

/** The resolved color scheme, for components that draw on a canvas. */
export function useColorScheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => {
    const theme = savedTheme()
    return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
  })
}
