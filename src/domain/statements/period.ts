import { idFloor } from '#kernel/id.ts'

/** A calendar month (UTC), with the bounds of the movement IDs in it. */
export type Period = {
  /** YYYY-MM. */
  key: string
  created_at: Date
  ends_at: Date
  first_id: string
  end_id: string
}

/** A call that began before midnight may commit after it, with a timestamp of the old month. */
const FINAL_AFTER_MS = 5 * 60_000

export function isFinal({ ends_at }: Period, now: Date): boolean {
  return now.getTime() >= ends_at.getTime() + FINAL_AFTER_MS
}

/** The months from one day to another, oldest first; the last one has no end yet. */
export function periodsBetween(first: Date, last: Date): Period[] {
  const periods: Period[] = []
  for (let at = startOfMonth(first); at <= last; at = nextMonth(at)) periods.push(periodAt(at))
  const current = periods.at(-1)
  // Movements follow the clock of their node, which may be ahead of ours.
  if (current !== undefined) current.end_id = idFloor('bal', Number.MAX_SAFE_INTEGER)
  return periods
}

/** The month of a key such as 2026-11. */
export const periodOf = (key: string): Period => periodAt(new Date(`${key}-01T00:00:00.000Z`))

function periodAt(at: Date): Period {
  const ends_at = nextMonth(at)
  return {
    key: at.toISOString().slice(0, 7),
    created_at: at,
    ends_at,
    first_id: idFloor('bal', at.getTime()),
    end_id: idFloor('bal', ends_at.getTime()),
  }
}

const startOfMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))

const nextMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
