import type { CardRules } from '#contract/cards.ts'
import { Problem } from '#contract/problem.ts'
import { isCountry } from './countries.ts'

/** Lists as they were sent: absent stays as it is, null clears. */
export type RulesInput = { allow?: string[] | null; deny?: string[] | null }

const MCC_ENTRY = /^(\d{4})(?:-(\d{4}))?$/

/** Four digits, or two of them with the lower one first. */
export function isMccEntry(entry: string): boolean {
  const [, low, high] = MCC_ENTRY.exec(entry) ?? []
  return low !== undefined && (high === undefined || low <= high)
}

/** `at` is where the rules stand in the input; empty where they are all of it. */
export function requireMccRules(rules: RulesInput, at = ''): void {
  requireEntries(rules, isMccEntry, (list, entry) => {
    const sentence = `"${entry}" is not a valid merchant category (example: 5411, 5811-5814).`
    return new Problem('invalid_mcc', sentence, {
      details: [
        { field: fieldIn(at, list), message: 'must be four digits or a range like 5811-5814' },
      ],
    })
  })
}

export function requireGeoRules(rules: RulesInput, at = ''): void {
  requireEntries(rules, isCountry, (list, code) => invalidCountry(fieldIn(at, list), code))
}

const fieldIn = (at: string, name: string) => (at === '' ? name : `${at}.${name}`)

export function invalidCountry(field: string, code: string): Problem {
  return new Problem(
    'invalid_country',
    `"${code}" is not a valid country. Use two uppercase letters (ISO 3166-1).`,
    {
      details: [{ field, message: 'must be an ISO 3166-1 alpha-2 code' }],
    },
  )
}

/** Sentences quote what was sent, so not all of it. */
const QUOTED_MAX = 40

function requireEntries(
  rules: RulesInput,
  isRight: (entry: string) => boolean,
  problem: (field: string, entry: string) => Problem,
): void {
  for (const list of ['allow', 'deny'] as const) {
    const entries = rules[list] ?? []
    const wrong = entries.findIndex((entry) => !isRight(entry))
    if (wrong >= 0) throw problem(`${list}.${wrong}`, (entries[wrong] ?? '').slice(0, QUOTED_MAX))
  }
}

/** Codes have four digits each, so that they compare as text just as they do as numbers. */
function mccMatches(entry: string, mcc: string): boolean {
  if (entry.length === 4) return entry === mcc
  return entry.slice(0, 4) <= mcc && mcc <= entry.slice(5)
}

/**
 * What is denied wins; no list of what is allowed means all, an empty one none. A merchant that
 * tells nothing of itself is in no list: it passes where only some are denied.
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
