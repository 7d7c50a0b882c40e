import { ACCOUNT_TOTP_SECRETS } from '#domain/accounts/two_factor.ts'
import { OPERATOR_TOTP_SECRETS } from '#domain/operators/operator_token.ts'
import { WEBHOOK_SECRETS } from '#domain/webhooks/webhook.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { resealColumn } from '#platform/storage/sealed_column.ts'

/** Card numbers have their own task (reseal_pans_task.ts), because there are many. */
const SEALED_COLUMNS = [ACCOUNT_TOTP_SECRETS, OPERATOR_TOTP_SECRETS, ...WEBHOOK_SECRETS]

/**
 * Reseals authenticator and webhook secrets with the current key after `florin keys rotate`. It is
 * done after a run that finds nothing, because another node may still seal with the old key.
 */
export function resealSecretsTask({ db, keys }: { db: Database; keys: Keys }): Task {
  let finished_key: string | null = null
  return {
    name: 'reseal_secrets',
    every_ms: 10_000,
    run: async () => {
      await keys.refresh()
      const prefix = keys.sealedPrefix()
      if (finished_key === prefix) return
      let found = 0
      for (const column of SEALED_COLUMNS) found += await resealColumn({ db, keys }, column)
      if (found === 0) finished_key = prefix
    },
  }
}
