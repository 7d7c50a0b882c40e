import { Problem } from '#contract/problem.ts'
import type { Trail } from '#domain/context/context.ts'
import { consumeUndos, findUndo } from '#domain/credentials/security_undo.ts'
import { endAllSessions } from '#domain/credentials/session_store.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { type EmailClaims, requireEmailClaimed } from './account.ts'
import { lockAccount, replaceRecoveryCodes, updateAccountRow, updateTotp } from './account_store.ts'
import { type HashCost, hashPassword, requireStrongPassword } from './password.ts'

type UndoDependencies = EmailClaims & {
  db: Database
  keys: Keys
  clock: Clock
  settings: HashCost
}
type UndoInput = { token: string; password: string }
type UndoContext = { tx: Tx; now: Date; audit: Trail['audit']; alert: Trail['alert'] }

/**
 * Returns an account to the owner of its previous email: restores that email, sets a new password,
 * ends all sessions and turns off two-factor authentication if it was turned on recently. Otherwise
 * an attacker with a session could turn it on and lock the owner out. The alerts start the
 * withdrawal cool-down and end browser sessions. The returned function runs in a transaction and
 * returns the account id.
 */
export async function prepareUndo(
  dependencies: UndoDependencies,
  { token, password }: UndoInput,
): Promise<(context: UndoContext) => Promise<string>> {
  const { db, clock } = dependencies
  const undo = await findUndo(db, dependencies, { token, now: clock.now() })
  if (undo === undefined) throw linkExpired()
  requireStrongPassword(password, undo.email)
  const password_hash = await hashPassword(password, dependencies.settings)

  return async ({ tx, now, audit, alert }) => {
    const account = await lockAccount(tx, undo.account_id)
    const current = await findUndo(tx, dependencies, { token, now })
    if (current === undefined) throw linkExpired()
    const { id, notifications } = account
    await updateAccountRow(tx, { id, email: undo.email, password_hash, notifications, now })
    if (account.email !== undo.email) await requireEmailClaimed(dependencies, undo.email)
    await endAllSessions(tx, id, now)
    await consumeUndos(tx, current, now)
    const resource = { type: 'account', id }
    audit(id, { action: 'account.updated', resource })
    alert(id, { kind: 'password_changed' })
    if (account.totp_status !== 'enabled' || !current.is_two_factor_new) return id
    await updateTotp(tx, { id, totp_status: 'disabled', totp_secret_sealed: null, now })
    await replaceRecoveryCodes(tx, id, [])
    audit(id, { action: 'totp.disabled', resource })
    alert(id, { kind: 'two_factor_off' })
    return id
  }
}

const linkExpired = () =>
  new Problem('not_found', 'This link was already used or is more than 72 hours old.', {
    status: 410,
  })
