import Type, { type Static } from 'typebox'
import { operation, sessionOrKeyOnly } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, NoContent, Page, pageQuery, Timestamp } from './shapes.ts'

export const ActiveSession = Type.Object(
  {
    id: Id('sess', 'ID of the session. This is not the bearer.'),
    current: Type.Boolean({ description: 'True for the session that makes this call.' }),
    ip: Type.String({ description: 'IP address of the sign-in.', examples: ['203.0.113.7'] }),
    user_agent: Type.String({ description: 'User agent of the sign-in.', examples: ['curl/8'] }),
    created_at: Timestamp('Time of sign-in.'),
    last_used_at: Timestamp('Time of the last call. The time of sign-in if there was none.'),
    expires_at: Timestamp('Time the session expires.'),
  },
  { description: 'A session that is signed in.' },
)
export type ActiveSession = Static<typeof ActiveSession>

export const list_sessions = operation({
  name: 'list_sessions',
  ...routes.list_sessions,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'List sessions.',
  description:
    'Lists the sessions that are signed in to the account, with IP address, user agent and last ' +
    'use. Sessions that ended or expired are not included; the audit log has every sign-in.',
  access: sessionOrKeyOnly,
  input: Input({ ...pageQuery }),
  output: Page(ActiveSession),
  problems: ['invalid_cursor'],
})

export const revoke_session = operation({
  name: 'revoke_session',
  ...routes.revoke_session,
  status: 204,
  section: 'Accounts and sessions',
  summary: 'End a session.',
  description:
    'Ends a session of the account. Its bearer stops working immediately. Ending the session ' +
    'that makes this call signs it out. A session that already ended or expired is not found.',
  access: sessionOrKeyOnly,
  input: Input({ id: Id('sess', 'The session to end.') }),
  output: NoContent,
  destructive: true,
})
