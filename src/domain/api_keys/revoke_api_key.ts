import type { Handler } from '#domain/context/context.ts'
import { revokeApiKeyOf } from '#domain/credentials/api_key_store.ts'

export const revokeApiKey: Handler<'revoke_api_key'> = async (context, { id }) => {
  const { account_id } = context.caller
  await revokeApiKeyOf(context.tx, account_id, id, context.now)
  context.credentialsChanged(account_id)
  context.audit(account_id, { action: 'api_key.revoked', resource: { type: 'api_key', id } })
  return {}
}
