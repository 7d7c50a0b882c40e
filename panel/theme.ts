import { useSyncExternalStore } from 'react'

/** As the system has it, unless somebody chose; the choice is remembered on this computer. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const KEY = 'florin_theme'
const listeners = new Set<() => void>()

const chosen = (): Theme => themes.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'

export function applyTheme(): void {
  const theme = chosen()
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const tell of listeners) tell()
}

const dark = matchMedia('(prefers-color-scheme: dark)')

function subscribe(tell: () => void): () => void {
  listeners.add(tell)
  dark.addEventListener('change', tell)
  return () => {
    listeners.delete(tell)
    dark.removeEventListener('change', tell)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosen)

/** What is in force, for those who paint themselves. */
export function useScheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => {
    const theme = chosen()
    return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
  })
}
