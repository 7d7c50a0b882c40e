import { notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makePageReader } from '#platform/postgres/page.ts'

export type ApiKeyRow = {
  account_id: string
  id: string
  name: string | null
  prefix: string
  status: 'active' | 'revoked'
  last_used_at: Date | null
  last_used_ip: string | null
  created_at: Date
  revoked_at: Date | null
}

const COLUMNS =
  'account_id, id, name, prefix, status, last_used_at, last_used_ip, created_at, revoked_at'

type NewApiKey = Pick<ApiKeyRow, 'account_id' | 'id' | 'name' | 'prefix' | 'created_at'> & {
  key_hash: string
}

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  const [row] = await tx.rows<ApiKeyRow>(
    `insert into api_keys (account_id, id, name, prefix, key_hash, created_at)
     values ($1, $2, $3, $4, $5, $6)
  returning ${COLUMNS}`,
    [key.account_id, key.id, key.name, key.prefix, key.key_hash, key.created_at],
  )
  if (row === undefined) throw new Error('the insert returned no row')
  return row
}

export const readApiKeyPage = makePageReader<ApiKeyRow>({
  prefix: 'key',
  select: `select ${COLUMNS} from api_keys`,
})

export async function revokeApiKeyOf(
  tx: Tx,
  account_id: string,
  id: string,
  now: Date,
): Promise<void> {
  const [key] = await tx.rows<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  if (key === undefined) throw notFound('API key')
  if (key.status === 'revoked') throw new Problem('key_revoked', 'This API key is already revoked.')
  await tx.run(
    `update api_keys set status = 'revoked', revoked_at = $3 where account_id = $1 and id = $2`,
    [account_id, id, now],
  )
}
