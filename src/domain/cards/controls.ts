import type { CardRules } from '#contract/cards.ts'
import { Problem } from '#contract/problem.ts'
import { isCountry } from './countries.ts'

/** An absent list stays as it is; null clears it. */
export type RulesInput = { allow?: string[] | null; deny?: string[] | null }

const MCC_ENTRY = /^(\d{4})(?:-(\d{4}))?$/

/** Four digits, or a range of two codes with the lower one first. */
export function isMccEntry(entry: string): boolean {
  const [, low, high] = MCC_ENTRY.exec(entry) ?? []
  return low !== undefined && (high === undefined || low <= high)
}

/** `path` is the field of the input that holds the rules; empty if the input is the rules. */
export function requireMccRules(rules: RulesInput, path = ''): void {
  requireEntries(rules, isMccEntry, (list, entry) => {
    const sentence = `"${entry}" is not a valid merchant category (example: 5411, 5811-5814).`
    return new Problem('invalid_mcc', sentence, {
      details: [
        { field: fieldIn(path, list), message: 'must be four digits or a range like 5811-5814' },
      ],
    })
  })
}

export function requireGeoRules(rules: RulesInput, path = ''): void {
  requireEntries(rules, isCountry, (list, code) => invalidCountry(fieldIn(path, list), code))
}

const fieldIn = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

export function invalidCountry(field: string, code: string): Problem {
  return new Problem(
    'invalid_country',
    `"${code}" is not a valid country. Use two uppercase letters (ISO 3166-1).`,
    {
      details: [{ field, message: 'must be an ISO 3166-1 alpha-2 code' }],
    },
  )
}

/** Error messages quote the invalid entry, cut to this length. */
const QUOTED_LENGTH_MAX = 40

function requireEntries(
  rules: RulesInput,
  isValid: (entry: string) => boolean,
  problem: (field: string, entry: string) => Problem,
): void {
  for (const list of ['allow', 'deny'] as const) {
    const entries = rules[list] ?? []
    const at = entries.findIndex((entry) => !isValid(entry))
    if (at >= 0) throw problem(`${list}.${at}`, (entries[at] ?? '').slice(0, QUOTED_LENGTH_MAX))
  }
}

/** All codes have four digits, so comparing text is comparing numbers. */
function mccMatches(entry: string, mcc: string): boolean {
  if (entry.length === 4) return entry === mcc
  return entry.slice(0, 4) <= mcc && mcc <= entry.slice(5)
}

/**
 * `deny` wins over `allow`. Without an `allow` list everything is allowed; an empty one allows
 * nothing. An unknown value (null) is in no list, so it passes unless there is an `allow` list.
 */
function isAllowed(
  { allow, deny }: CardRules,
  value: string | null,
  matches: (entry: string, value: string) => boolean,
): boolean {
  if (value === null) return allow === null
  if (deny?.some((entry) => matches(entry, value))) return false
  return allow === null || allow.some((entry) => matches(entry, value))
}

export function mccIsAllowed(rules: CardRules, mcc: string | null): boolean {
  return isAllowed(rules, mcc, mccMatches)
}

export function countryIsAllowed(rules: CardRules, country: string | null): boolean {
  return isAllowed(rules, country, (entry, code) => entry === code)
}
