import type { Database, Tx } from '#platform/postgres/db.ts'

/** Keeps the locks that a statement takes, until they are released. */
export async function holdRows(
  db: Pick<Database, 'transaction'>,
  take: (tx: Tx) => Promise<unknown>,
): Promise<{ release(): Promise<void> }> {
  let free = () => {}
  const freed = new Promise<void>((resolve) => {
    free = resolve
  })
  let isTaken = () => {}
  const taken = new Promise<void>((resolve) => {
    isTaken = resolve
  })
  const holding = db.transaction(async (tx) => {
    await take(tx)
    isTaken()
    await freed
  })
  await Promise.race([taken, holding])
  return {
    release: () => {
      free()
      return holding
    },
  }
}
