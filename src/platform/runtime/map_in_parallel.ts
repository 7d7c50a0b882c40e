/** The results in order. At most `count` items are worked on at a time. */
export async function mapInParallel<Item, Result>(
  items: readonly Item[],
  count: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += count) {
    results.push(...(await Promise.all(items.slice(at, at + count).map(work))))
  }
  return results
}
