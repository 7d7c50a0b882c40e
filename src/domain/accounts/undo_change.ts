import { Problem } from '#contract/problem.ts'
import type { Dependencies, Trail } from '#domain/context/context.ts'
import { findUndo, useUpUndos } from '#domain/credentials/security_undo.ts'
import { endAllSessions } from '#domain/credentials/session_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { lockAccount, replaceRecoveryCodes, updateAccountRow, updateTotp } from './account_store.ts'
import { hashPassword, requireStrongPassword } from './password.ts'

type Needs = Pick<Dependencies, 'db' | 'keys' | 'clock'>
type Given = { token: string; password: string }
type Run = (context: Pick<Trail, 'audit' | 'alert'> & { tx: Tx; now: Date }) => Promise<string>

/**
 * Gives an account back to whoever reads the mail of its address before a change: that address and
 * a new password, no session, and no two-factor that was turned on lately. A thief with a session
 * could otherwise turn two-factor on and lock the owner out. The alerts start the withdrawal
 * cool-down and end the browser sessions. What is to be run in a transaction answers with the
 * account.
 */
export async function prepareUndo(needs: Needs, { token, password }: Given): Promise<Run> {
  const { db, clock } = needs
  const undo = await findUndo(db, needs, { token, now: clock.now() })
  if (undo === undefined) throw linkIsOver()
  requireStrongPassword(password, undo.email)
  const password_hash = await hashPassword(password)

  return async ({ tx, now, audit, alert }) => {
    const account = await lockAccount(tx, undo.account_id)
    const still = await findUndo(tx, needs, { token, now })
    if (still === undefined) throw linkIsOver()
    const { id, notifications } = account
    await updateAccountRow(tx, { id, email: undo.email, password_hash, notifications, now })
    await endAllSessions(tx, id, now)
    await useUpUndos(tx, id, now)
    const resource = { type: 'account', id }
    audit(id, { action: 'account.updated', resource })
    alert(id, { kind: 'password_changed' })
    if (account.totp_status !== 'enabled' || !still.is_two_factor_new) return id
    await updateTotp(tx, { id, totp_status: 'disabled', totp_secret_sealed: null, now })
    await replaceRecoveryCodes(tx, id, [])
    audit(id, { action: 'totp.disabled', resource })
    alert(id, { kind: 'two_factor_off' })
    return id
  }
}

const linkIsOver = () =>
  new Problem('not_found', 'This link was already used or is more than 72 hours old.', {
    status: 410,
  })
