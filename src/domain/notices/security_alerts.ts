import type { RequestFacts, Seams, SecurityAlert } from '#platform/context.ts'
import type { Tx } from '#platform/db.ts'
import { momentInWords, writeLetter } from './notice.ts'
import { findReaders, insertNotices } from './notice_store.ts'

const SUBJECTS: Readonly<Record<SecurityAlert['kind'], string>> = {
  new_sign_in: 'New sign-in to your account',
  api_key_created: 'An API key was created',
  password_changed: 'Your password was changed',
  email_changed: 'The e-mail of your account was changed',
  two_factor_on: 'Two-factor sign-in was turned on',
  two_factor_off: 'Two-factor sign-in was turned off',
}

const ADVICE =
  'If this was not you, change your password, revoke your API keys and contact support.'

type Source = Pick<Seams, 'clock' | 'settings'> & { request: RequestFacts }

/** In the transaction of the change: it is written if and only if the change was made. */
export async function noticesOfAlerts(
  tx: Tx,
  account_id: string,
  alerts: readonly SecurityAlert[],
  { clock, settings, request }: Source,
): Promise<void> {
  const [reader] = await findReaders(tx, [account_id])
  if (reader === undefined) return
  const now = clock.now()
  const notices = alerts.map(({ kind, detail, recipient }) => {
    const subject = SUBJECTS[kind]
    const lines = [
      detail === undefined ? `${subject}.` : `${subject}: ${detail}.`,
      `It was done on ${momentInWords(now)} from ${request.ip}.`,
      ADVICE,
    ]
    const { public_url, mode } = settings
    return {
      account_id,
      kind,
      recipient: recipient ?? reader.email,
      ...writeLetter({ subject, lines, public_url, livemode: mode === 'live' }),
      now,
    }
  })
  await insertNotices(tx, notices)
}
