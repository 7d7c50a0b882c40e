import { TOTP_PURPOSE } from '#domain/accounts/two_factor.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { OPERATOR_TOTP_PURPOSE } from '#domain/operators/operator_token.ts'
import { WEBHOOK_SECRET_PURPOSE } from '#domain/webhooks/webhook.ts'
import type { Task } from '#platform/runtime/tasks.ts'

/** Every sealed column but the card numbers, which are many (see reseal_pans_task.ts). */
const SEALED_COLUMNS = [
  { table: 'accounts', column: 'totp_secret_sealed', purpose: TOTP_PURPOSE },
  { table: 'operator_tokens', column: 'totp_secret_sealed', purpose: OPERATOR_TOTP_PURPOSE },
  { table: 'webhooks', column: 'secret_sealed', purpose: WEBHOOK_SECRET_PURPOSE },
  { table: 'webhooks', column: 'previous_secret_sealed', purpose: WEBHOOK_SECRET_PURPOSE },
] as const

type SealedColumn = (typeof SEALED_COLUMNS)[number]

const BATCH_MAX = 500

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
      for (const column of SEALED_COLUMNS) found += await reseal({ db, keys }, column)
      if (found === 0) finished_key = prefix
    },
  }
}

async function reseal(
  { db, keys }: Pick<Dependencies, 'db' | 'keys'>,
  { table, column, purpose }: SealedColumn,
): Promise<number> {
  let found = 0
  for (;;) {
    const rows = await db.rows<{ id: string; sealed: string }>(
      `select id, ${column} as sealed from ${table}
        where not starts_with(${column}, $1) order by id limit ${BATCH_MAX}`,
      [keys.sealedPrefix()],
    )
    // A secret that was replaced meanwhile is left alone: it is under the current key.
    await db.run(
      `update ${table} t set ${column} = w.resealed
         from unnest($1::text[], $2::text[], $3::text[]) as w (id, sealed, resealed)
        where t.id = w.id and t.${column} = w.sealed`,
      [
        rows.map(({ id }) => id),
        rows.map(({ sealed }) => sealed),
        rows.map(({ id, sealed }) => keys.seal(purpose, id, keys.open(purpose, id, sealed))),
      ],
    )
    found += rows.length
    if (rows.length < BATCH_MAX) return found
  }
}
