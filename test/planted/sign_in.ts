import type { PlantedBug } from './planted_bug.ts'

const reset = {
  file: 'src/domain/accounts/reset_password.ts',
  tests: ['src/domain/accounts/reset_password.test.ts'],
}
const reset_store = { ...reset, file: 'src/domain/credentials/password_reset_store.ts' }

/** Password resets, sessions, emails and tickets of the account holder. */
export const sign_in: readonly PlantedBug[] = [
  {
    ...reset,
    name: 'reset_token_used_by_two',
    find: 'if (!(await consumeReset(tx, { keys }, { token, now }))) throw resetTokenInvalid()',
    replace: 'await consumeReset(tx, { keys }, { token, now })',
    breaks: 'Of concurrent resets with one token exactly one wins.',
  },
  {
    ...reset,
    name: 'reset_keeps_sessions',
    find: '      await endAllSessions(tx, id, now)\n',
    replace: '',
    breaks: 'A password reset ends all sessions.',
  },
  {
    ...reset,
    name: 'reset_without_a_code',
    find: `  if (account.totp_status !== 'enabled') return\n`,
    replace: `  if (account.totp_status !== 'pending') return\n`,
    breaks: 'With two-factor authentication on, a reset needs a code.',
  },
  {
    ...reset,
    name: 'reset_codes_uncounted',
    file: 'src/domain/accounts/two_factor.ts',
    find: '  await requireGuessLeft({ tx: db, keys, subject, now })\n',
    replace: '',
    breaks: 'Guesses of codes are limited.',
  },
  {
    ...reset,
    name: 'reset_without_an_alert',
    find: `      alert(id, { kind: 'password_reset' })\n`,
    replace: '',
    breaks: 'A reset emails the owner and starts the cool-down.',
  },
  {
    ...reset_store,
    name: 'reset_token_for_a_day',
    find: 'RESET_MINUTES = 30',
    replace: 'RESET_MINUTES = 1_440',
    breaks: 'A reset token works for 30 minutes.',
  },
  {
    ...reset_store,
    name: 'reset_oldest_token',
    find: 'set token_hash = excluded.token_hash, requested_at',
    replace: 'set requested_at',
    breaks: 'Only the newest reset token works.',
  },
  {
    ...reset,
    name: 'reset_after_a_change',
    file: 'src/domain/accounts/credential_change.ts',
    find: '  await deleteReset(tx, account_id)\n',
    replace: '',
    breaks: 'A change of email or password ends the link that was sent before.',
  },
  {
    name: 'reset_request_of_an_email',
    file: 'src/domain/accounts/request_password_reset.ts',
    find: 'await requireRequestLeft(context, `password_reset|email|${email}`)',
    replace: 'await requireRequestLeft(context, `password_reset|email|${request.id}`)',
    breaks: 'The sixth reset request of an hour for one email is refused.',
    tests: ['src/domain/accounts/request_password_reset.test.ts'],
  },
  {
    name: 'revoke_an_expired_session',
    file: 'src/domain/credentials/session_store.ts',
    find: 'and ended_at is null and expires_at > $3',
    replace: 'and ended_at is null',
    breaks: 'A session that expired is not found.',
    tests: ['src/domain/accounts/revoke_session.test.ts'],
  },
  {
    name: 'reply_to_a_closed_ticket',
    file: 'src/domain/support/reply_ticket.ts',
    find: '  requireNotClosed(ticket)\n',
    replace: '',
    breaks: 'A closed ticket takes no reply.',
    tests: ['src/domain/support/reply_ticket.test.ts'],
  },
  {
    name: 'undo_address_unreserved',
    file: 'src/domain/accounts/account_store.ts',
    find: 'if (!(await isEmailFree(tx, { email, account_id: id, now }))) throw emailTaken()',
    replace: 'await isEmailFree(tx, { email, account_id: id, now })',
    breaks: 'Nobody else can sign up with the old address while its undo link works.',
    tests: ['src/domain/accounts/undo_change.test.ts'],
  },
  {
    name: 'undo_address_unreserved_in_other_cells',
    file: 'src/main/connect_cells.ts',
    find: '    if (!isFree) return false\n',
    replace: '',
    breaks: 'No account of another cell can change to an address that an undo link restores.',
    tests: ['src/domain/directory/email_directory.test.ts'],
  },
  {
    name: 'email_of_two_cells',
    file: 'src/domain/accounts/create_account.ts',
    find: '      await requireEmailClaimed(context, email)\n',
    replace: '',
    breaks: 'A sign-up and an account of another cell do not both get an email.',
    tests: ['src/domain/directory/email_directory.test.ts'],
  },
]
