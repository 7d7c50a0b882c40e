/**
 * Limits the memory that requests hold, in total and per holder: one address or account cannot use
 * up the memory of the others, and anonymous requests cannot use up that of authenticated ones.
 */
export type ByteBudget = {
  /** Returns false, and takes nothing, if the budget is exhausted. */
  take(share: Share, bytes: number): boolean
  release(share: Share, bytes: number): void
}

export type Share = { group: 'stranger' | 'caller'; holder: string }

type Limits = Readonly<Record<Share['group'], { total: number; holder: number }>>

const MEGABYTE = 1_048_576

const DEFAULT_LIMITS: Limits = {
  stranger: { total: 64 * MEGABYTE, holder: 8 * MEGABYTE },
  caller: { total: 256 * MEGABYTE, holder: 80 * MEGABYTE },
}

export function makeByteBudget(limits: Limits = DEFAULT_LIMITS): ByteBudget {
  const totals = { stranger: 0, caller: 0 }
  const held = new Map<string, number>()
  const keyOf = ({ group, holder }: Share) => `${group}|${holder}`
  return {
    take: (share, bytes) => {
      const { total, holder } = limits[share.group]
      const mine = held.get(keyOf(share)) ?? 0
      if (totals[share.group] + bytes > total || mine + bytes > holder) return false
      totals[share.group] += bytes
      held.set(keyOf(share), mine + bytes)
      return true
    },
    release: (share, bytes) => {
      totals[share.group] -= bytes
      const left = (held.get(keyOf(share)) ?? 0) - bytes
      if (left > 0) held.set(keyOf(share), left)
      else held.delete(keyOf(share))
    },
  }
}
