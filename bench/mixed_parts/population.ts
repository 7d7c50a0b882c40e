import type { Dependencies } from '#domain/context/context.ts'
import { insertApiKey } from '#domain/credentials/api_key_store.ts'
import { newBearer } from '#domain/credentials/bearer.ts'
import type { BareCard } from '#test/support/issuer.ts'

/** An account of the mix: one card and one API key. */
export type Holder = {
  account_id: string
  card_id: string
  pan: string
  expiry: string
  key: string
}

const AT_ONCE = 50

/** Gives an API key to the account of each card. */
export async function holdersOf(
  dependencies: Dependencies,
  cards: readonly BareCard[],
): Promise<Holder[]> {
  const holders: Holder[] = []
  for (let at = 0; at < cards.length; at += AT_ONCE) {
    const some = cards.slice(at, at + AT_ONCE)
    holders.push(...(await Promise.all(some.map((card) => holderOf(dependencies, card)))))
  }
  return holders
}

async function holderOf(
  { db, clock, keys, random, newId, settings: { cell } }: Dependencies,
  { account_id, id, pan, expiry }: BareCard,
): Promise<Holder> {
  const created_at = clock.now()
  const bearer = newBearer('api_key', { random, keys, livemode: false, cell })
  await db.transaction((tx) =>
    insertApiKey(tx, {
      account_id,
      id: newId('key', created_at),
      name: null,
      prefix: bearer.shown_prefix,
      key_hash: bearer.hash,
      created_at,
    }),
  )
  return { account_id, card_id: id, pan, expiry, key: bearer.text.open() }
}

/** Chooses accounts so that the first is a thousand times busier than the last of 10,000. */
export function skewedChoice(count: number, random: () => number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank += 1) {
    sum += 1 / (rank + FLATTENED)
    sums[rank] = sum
  }
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Without it, the first account alone would have a tenth of the traffic. */
const FLATTENED = 10
