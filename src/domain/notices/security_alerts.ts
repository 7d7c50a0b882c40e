import type { RequestContext, SecurityAlert } from '#domain/context/context.ts'
import { createUndo, UNDO_HOURS } from '#domain/credentials/security_undo.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { Settings } from '#settings/settings.ts'
import type { NewNotice } from './notice.ts'
import { findRecipients, insertNotices } from './notice_store.ts'
import { renderEmail } from './templates/layout.ts'
import { securityEmail } from './templates/security_email.ts'

type AlertSource = {
  clock: Clock
  settings: Settings
  keys: Keys
  random: Random
  request: RequestContext
}

/** Runs in the transaction of the change, so an alert exists if and only if the change was made. */
export async function insertSecurityNotices(
  tx: Tx,
  account_id: string,
  alerts: readonly SecurityAlert[],
  source: AlertSource,
): Promise<void> {
  const [owner] = await findRecipients(tx, [account_id])
  if (owner === undefined) return
  const notices: NewNotice[] = []
  for (const alert of alerts) {
    const recipient = alert.recipient ?? owner.email
    notices.push(await securityNotice(tx, { account_id, recipient, alert }, source))
  }
  await insertNotices(tx, notices)
}

type AddressedAlert = { account_id: string; recipient: string; alert: SecurityAlert }

async function securityNotice(
  tx: Tx,
  { account_id, recipient, alert }: AddressedAlert,
  source: AlertSource,
): Promise<NewNotice> {
  const { clock, settings, request } = source
  const { kind } = alert
  const { public_url } = settings
  const now = clock.now()
  let undo = null
  if (kind === 'two_factor_on' || kind === 'email_changed') {
    const token = await createUndo(tx, source, { account_id, email: recipient, kind, now })
    undo = { url: `${public_url}/undo/${token}`, hours: UNDO_HOURS }
  }
  const email = securityEmail({ alert, request, now, undo })
  const rendered = renderEmail(email, settings)
  return { account_id, kind, recipient, ...rendered, now }
}
