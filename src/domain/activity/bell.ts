/**
 * Wakes those on this node who follow an account. It says that there may be something new, never
 * what: whoever is woken looks for himself, so a ring too many costs a look and one too few is made
 * good by the next.
 */
export type Bell = {
  /** A comma list of accounts; an empty one, after notices were lost, means all of them. */
  ring(accounts: string): void
  /** Answers with what stops it. */
  hear(account_id: string, wake: () => void): () => void
}

export function makeBell(): Bell {
  const hearers = new Map<string, Set<() => void>>()
  const wakeAll = (woken: Iterable<() => void> = []) => {
    for (const wake of woken) wake()
  }
  return {
    ring: (accounts) => {
      if (accounts === '') return wakeAll([...hearers.values()].flatMap((set) => [...set]))
      for (const account_id of accounts.split(',')) wakeAll(hearers.get(account_id))
    },
    hear: (account_id, wake) => {
      const set = hearers.get(account_id) ?? new Set()
      hearers.set(account_id, set.add(wake))
      return () => {
        set.delete(wake)
        if (set.size === 0 && hearers.get(account_id) === set) hearers.delete(account_id)
      }
    },
  }
}
