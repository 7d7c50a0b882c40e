/**
 * Does the work for every item, one after another, also after one that failed: a chain whose node
 * is down must not stop the others. Fails at the end if any did.
 */
export async function forEachAlone<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const causes: unknown[] = []
  for (const item of items) await work(item).catch((cause: unknown) => causes.push(cause))
  if (causes.length === 1) throw causes[0]
  if (causes.length > 1) throw new AggregateError(causes, causes.map(String).join(' '))
}
