import { twMerge } from 'tailwind-merge'

/** Joins class names; of two that contradict each other the later one wins. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return twMerge(names.filter(Boolean).join(' '))
}
