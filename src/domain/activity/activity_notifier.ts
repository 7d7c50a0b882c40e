/**
 * Wakes this node's subscribers of an account. A notification carries no data: each subscriber
 * queries for itself, so an extra one costs a query and a lost one is made up for by the next.
 */
export type ActivityNotifier = {
  /** Comma-separated account ids; an empty list, sent after a lost connection, means all. */
  notify(accounts: string): void
  /** Returns the function that unsubscribes. */
  subscribe(account_id: string, wake: () => void): () => void
}

export function makeActivityNotifier(): ActivityNotifier {
  const subscribers = new Map<string, Set<() => void>>()
  const wakeAll = (woken: Iterable<() => void> = []) => {
    for (const wake of woken) wake()
  }
  return {
    notify: (accounts) => {
      if (accounts === '') return wakeAll([...subscribers.values()].flatMap((set) => [...set]))
      for (const account_id of accounts.split(',')) wakeAll(subscribers.get(account_id))
    },
    subscribe: (account_id, wake) => {
      const set = subscribers.get(account_id) ?? new Set()
      subscribers.set(account_id, set.add(wake))
      return () => {
        set.delete(wake)
        if (set.size === 0 && subscribers.get(account_id) === set) subscribers.delete(account_id)
      }
    },
  }
}
