/**
 * Delta debugging: removes steps as long as the rest still fails, first large parts and then single
 * steps, until no single step can be removed.
 */
export async function shrink<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
): Promise<Item[]> {
  let kept = [...items]
  for (let size = Math.ceil(kept.length / 2); size >= 1; ) {
    const before = kept.length
    for (let at = 0; at < kept.length; ) {
      const fewer = kept.toSpliced(at, size)
      if (await fails(fewer)) kept = fewer
      else at += size
    }
    if (size === 1 && kept.length === before) break
    size = Math.max(1, Math.floor(size / 2))
  }
  return kept
}
