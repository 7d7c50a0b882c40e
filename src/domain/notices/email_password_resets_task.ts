import { findAccountByEmail, lockAccount } from '#domain/accounts/account_store.ts'
import { recordAudit } from '#domain/audit/audit.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import {
  createReset,
  hasResetRequest,
  RESET_MINUTES,
  type ResetRequest,
  takeResetRequest,
} from '#domain/credentials/password_reset_store.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { Settings } from '#settings/settings.ts'
import { insertNotices } from './notice_store.ts'
import { renderEmail } from './templates/layout.ts'
import { passwordResetEmail } from './templates/password_reset_email.ts'

type ResetDependencies = {
  db: Database
  clock: Clock
  keys: Keys
  random: Random
  newId: Dependencies['newId']
  settings: Settings
}

/**
 * Emails the link of each requested password reset. The call itself doesn't look for the account,
 * so that its time says nothing. Unknown and suspended accounts get no email.
 */
export function emailPasswordResetsTask(dependencies: ResetDependencies): Task {
  const { db } = dependencies
  const processNext = () =>
    db.transaction(async (tx) => {
      const request = await takeResetRequest(tx)
      if (request !== undefined) await emailLink(tx, dependencies, request)
      return request !== undefined
    })
  return {
    name: 'email_password_resets',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: async () => {
      if (!(await hasResetRequest(db))) return
      while (await processNext());
    },
  }
}

async function emailLink(
  tx: Tx,
  dependencies: ResetDependencies,
  request: ResetRequest,
): Promise<void> {
  const { clock, settings } = dependencies
  const { public_url } = settings
  const { email, ip, requested_at } = request
  const id = (await findAccountByEmail(tx, email))?.id
  if (id === undefined) return
  // Under the lock, because a change of the email ends every link sent to the old one.
  const account = await lockAccount(tx, id)
  if (account.status !== 'active' || account.email !== email) return
  const now = clock.now()
  const token = await createReset(tx, dependencies, { account_id: id, requested_at, now })
  if (token === undefined) return
  const url = `${public_url}/reset_password?token=${token}`
  const text = passwordResetEmail({ url, minutes: RESET_MINUTES, ip, requested_at })
  const rendered = renderEmail(text, settings)
  await insertNotices(tx, [
    { account_id: id, kind: 'password_reset_link', recipient: email, ...rendered, now },
  ])
  await auditRequest(tx, dependencies, { account_id: id, request })
}

/** The entry names the request that asked for the link, not this task. */
async function auditRequest(
  tx: Tx,
  dependencies: ResetDependencies,
  { account_id, request }: { account_id: string; request: ResetRequest },
): Promise<void> {
  const action = 'request_password_reset'
  await recordAudit(tx, account_id, [{ action, resource: { type: 'account', id: account_id } }], {
    actor_type: 'session',
    actor_id: null,
    actor_name: null,
    operation: action,
    ip: request.ip,
    user_agent: request.user_agent,
    request_id: request.request_id,
    stamp: makeStamp(dependencies, 'aud'),
  })
}
