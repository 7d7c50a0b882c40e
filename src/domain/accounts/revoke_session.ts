import type { Handler } from '#domain/context/context.ts'
import { revokeSessionOf } from '#domain/credentials/session_store.ts'

export const revokeSession: Handler<'revoke_session'> = async (context, { id }) => {
  const { account_id } = context.caller
  await revokeSessionOf(context.tx, account_id, id, context.now)
  context.credentialsChanged(account_id)
  context.audit(account_id, { action: 'session.ended', resource: { type: 'session', id } })
  return {}
}
