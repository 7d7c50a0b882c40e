import { ACCOUNT_TOTP_SECRETS } from '#domain/accounts/two_factor.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { OPERATOR_TOTP_SECRETS } from '#domain/operators/operator_token.ts'
import { WEBHOOK_SECRETS } from '#domain/webhooks/webhook.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { resealColumn } from '#platform/storage/sealed_column.ts'

/** Card numbers are many and have a task of their own (reseal_pans_task.ts). */
const SEALED_COLUMNS = [ACCOUNT_TOTP_SECRETS, OPERATOR_TOTP_SECRETS, ...WEBHOOK_SECRETS]

/**
 * Brings authenticator and webhook secrets under the current key after `florin keys rotate`. Only a
 * run that has found nothing ends it: another node may have sealed one under the old key meanwhile.
 */
export function resealSecretsTask({ db, keys }: Pick<Dependencies, 'db' | 'keys'>): Task {
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
