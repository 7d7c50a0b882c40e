import { twMerge } from 'tailwind-merge'

/** Joins class names; the last of conflicting Tailwind classes wins. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return twMerge(names.filter(Boolean).join(' '))
}
