import { createUndo, UNDO_HOURS } from '#domain/accounts/security_undo.ts'
import type { RequestFacts, Seams, SecurityAlert } from '#platform/context.ts'
import type { Tx } from '#platform/db.ts'
import { momentInWords, type NewNotice, writeLetter } from './notice.ts'
import { findReaders, insertNotices } from './notice_store.ts'

const SUBJECTS: Readonly<Record<SecurityAlert['kind'], string>> = {
  new_sign_in: 'New sign-in to your account',
  api_key_created: 'An API key was created',
  password_changed: 'Your password was changed',
  email_changed: 'The e-mail of your account was changed',
  two_factor_on: 'Two-factor sign-in was turned on',
  two_factor_off: 'Two-factor sign-in was turned off',
  grant_created: 'An app was allowed to use your account',
  webhook_created: 'A webhook was created',
  webhook_moved: 'A webhook was moved to another address',
  notifications_off: 'Some emails were turned off with an API key',
}

const ADVICE =
  'If this was not you, change your password, revoke your API keys and contact support.'

type Source = Pick<Seams, 'clock' | 'settings' | 'keys' | 'random'> & { request: RequestFacts }

/** In the transaction of the change: it is written if and only if the change was made. */
export async function noticesOfAlerts(
  tx: Tx,
  account_id: string,
  alerts: readonly SecurityAlert[],
  source: Source,
): Promise<void> {
  const [reader] = await findReaders(tx, [account_id])
  if (reader === undefined) return
  const notices: NewNotice[] = []
  for (const alert of alerts) {
    const recipient = alert.recipient ?? reader.email
    notices.push(await noticeOf(tx, { account_id, recipient, alert }, source))
  }
  await insertNotices(tx, notices)
}

type Addressed = { account_id: string; recipient: string; alert: SecurityAlert }

async function noticeOf(
  tx: Tx,
  { account_id, recipient, alert }: Addressed,
  source: Source,
): Promise<NewNotice> {
  const { clock, settings, request } = source
  const { kind, detail } = alert
  const { public_url, mode } = settings
  const now = clock.now()
  const subject = SUBJECTS[kind]
  const lines = [
    detail === undefined ? `${subject}.` : `${subject}: ${detail}.`,
    `It was done on ${momentInWords(now)} from ${request.ip}.`,
    ADVICE,
  ]
  if (kind === 'two_factor_on' || kind === 'email_changed') {
    const token = await createUndo(tx, source, { account_id, email: recipient, kind, now })
    lines.push(`To undo it and set a new password, open this link within ${UNDO_HOURS} hours:`)
    lines.push(`${public_url}/undo/${token}`)
  }
  const letter = writeLetter({ subject, lines, public_url, livemode: mode === 'live' })
  return { account_id, kind, recipient, ...letter, now }
}
