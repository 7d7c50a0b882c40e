import { fieldProblem } from '#contract/common_problems.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { CardRow } from './card.ts'

type UsageInput = Pick<InputOfName<'issue_card'>, 'usage' | 'merchant_lock' | 'valid_until'>

type UsageColumns = Pick<
  CardRow,
  'usage' | 'merchant_lock_name' | 'merchant_lock_id' | 'valid_until'
>

/** The usage of a new card, checked. */
export function parseUsage(input: UsageInput, now: Date): UsageColumns {
  const { usage = 'reusable', merchant_lock: lock } = input
  if (lock !== undefined) requireMerchantLock(usage, lock)
  return {
    usage,
    merchant_lock_name: lock?.name.trim() ?? null,
    merchant_lock_id: lock?.id?.trim() ?? null,
    valid_until: input.valid_until === undefined ? null : parseValidUntil(input.valid_until, now),
  }
}

/** A replacement keeps the usage of its card. */
export const usageOf = (card: CardRow): UsageColumns => ({
  usage: card.usage,
  merchant_lock_name: card.merchant_lock_name,
  merchant_lock_id: card.merchant_lock_id,
  valid_until: card.valid_until,
})

/** A blank name would be equal to that of every merchant whose messages carry none. */
function requireMerchantLock(
  usage: CardRow['usage'],
  { name, id }: NonNullable<UsageInput['merchant_lock']>,
): void {
  const refuse = (field: string, message: string) =>
    fieldProblem('invalid_merchant_lock', field, message)
  if (usage !== 'merchant_locked') {
    throw refuse('merchant_lock', 'can be sent only with usage merchant_locked')
  }
  if (name.trim() === '') throw refuse('merchant_lock.name', 'must not be blank')
  if (id?.trim() === '') throw refuse('merchant_lock.id', 'must not be blank')
}

const HOUR_MS = 3_600_000
const YEARS_MAX = 5
/** For the caller's clock and the time in transit: "in one hour" is a little less on arrival. */
const TOLERANCE_MS = 60_000

function parseValidUntil(text: string, now: Date): Date {
  const valid_until = new Date(text)
  const latest = new Date(now)
  latest.setUTCFullYear(now.getUTCFullYear() + YEARS_MAX)
  // Both are false for a leap second, which the schema accepts and a Date cannot hold.
  const isLateEnough = valid_until.getTime() >= now.getTime() + HOUR_MS - TOLERANCE_MS
  const isSoonEnough = valid_until.getTime() <= latest.getTime() + TOLERANCE_MS
  if (isLateEnough && isSoonEnough) return valid_until
  const message = 'must be 1 hour to 5 years from now'
  throw new Problem('invalid_request', `valid_until ${message}.`, {
    status: 422,
    details: [{ field: 'valid_until', message }],
  })
}
