import type { Database } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { CardKey } from './card_store.ts'
import { findOutdatedPans, resealPan, type SealedPan } from './pan_store.ts'
import { openPan, sealPan } from './pan_vault.ts'

const BATCH_MAX = 200
const START: CardKey = { account_id: '', id: '' }

type ResealDependencies = { db: Database; keys: Keys }

/**
 * Reseals every card number under the current key after `florin keys rotate`. It is finished only
 * after a run that found nothing, because another node may still issue a card under the old key.
 */
export function resealPansTask({ db, keys }: ResealDependencies): Task {
  let finished_key: string | null = null
  return {
    name: 'reseal_pans',
    every_ms: 10_000,
    run: async () => {
      await keys.refresh()
      const sealed_prefix = keys.sealedPrefix()
      if (finished_key === sealed_prefix) return
      let found = 0
      for (let after = START; ; ) {
        const batch = await findOutdatedPans(db, { sealed_prefix, after, limit: BATCH_MAX })
        for (const card of batch) await resealOne({ db, keys }, card)
        found += batch.length
        const last = batch.at(-1)
        if (last === undefined) break
        after = last
      }
      if (found === 0) finished_key = sealed_prefix
    },
  }
}

async function resealOne({ db, keys }: ResealDependencies, card: SealedPan): Promise<void> {
  const pan = openPan(keys, card.id, card.pan_sealed)
  await resealPan(db, card, sealPan(keys, card.id, pan.open()))
}
