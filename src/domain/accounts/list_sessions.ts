import type { ActiveSession } from '#contract/sessions.ts'
import type { Handler } from '#domain/context/context.ts'
import { type ListedSessionRow, readSessionPage } from '#domain/credentials/session_store.ts'
import { mapPage } from '#platform/postgres/page.ts'

export const listSessions: Handler<'list_sessions'> = async ({ tx, caller, now }, input) => {
  const page = await readSessionPage(tx, {
    operation: 'list_sessions',
    where: [
      ['account_id = ?', caller.account_id],
      ['ended_at is null and expires_at > ?', now],
    ],
    input,
  })
  return mapPage(page, (session) => activeSessionView(session, session.id === caller.id))
}

function activeSessionView(session: ListedSessionRow, current: boolean): ActiveSession {
  return {
    id: session.id,
    current,
    ip: session.ip,
    user_agent: session.user_agent,
    created_at: session.created_at.toISOString(),
    last_used_at: (session.last_used_at ?? session.created_at).toISOString(),
    expires_at: session.expires_at.toISOString(),
  }
}
