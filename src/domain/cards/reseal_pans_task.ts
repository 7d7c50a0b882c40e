import type { Dependencies } from '#domain/context/context.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { CardKey } from './card_store.ts'
import { findOtherwiseSealed, resealPan, type SealedPan } from './pan_store.ts'
import { openPan, sealPan } from './pan_vault.ts'

const BATCH_MAX = 200
const FIRST: CardKey = { account_id: '', id: '' }

/**
 * Brings every card number under the current key after `florin keys rotate`. Only a pass that has
 * found nothing ends it: a card that another node issued meanwhile may still be under the old key.
 */
export function resealPansTask({ db, keys }: Pick<Dependencies, 'db' | 'keys'>): Task {
  let finished_key: string | null = null
  return {
    name: 'reseal_pans',
    every_ms: 10_000,
    pass: async () => {
      await keys.refresh()
      const sealed_prefix = keys.sealedPrefix()
      if (finished_key === sealed_prefix) return
      let found = 0
      for (let after = FIRST; ; ) {
        const batch = await findOtherwiseSealed(db, { sealed_prefix, after, limit: BATCH_MAX })
        for (const card of batch) await reseal({ db, keys }, card)
        found += batch.length
        const last = batch.at(-1)
        if (last === undefined) break
        after = last
      }
      if (found === 0) finished_key = sealed_prefix
    },
  }
}

async function reseal(
  { db, keys }: Pick<Dependencies, 'db' | 'keys'>,
  card: SealedPan,
): Promise<void> {
  const pan = openPan(keys, card.id, card.pan_sealed)
  await resealPan(db, card, sealPan(keys, card.id, pan.open()))
}
