import type { Handler } from '#domain/context/context.ts'
import { endSession } from '#domain/credentials/session_store.ts'

export const signOut: Handler<'sign_out'> = async ({
  tx,
  caller,
  now,
  audit,
  credentialsChanged,
}) => {
  await endSession(tx, caller.account_id, caller.id, now)
  credentialsChanged(caller.account_id)
  audit(caller.account_id, {
    action: 'session.ended',
    resource: { type: 'session', id: caller.id },
  })
  return {}
}
