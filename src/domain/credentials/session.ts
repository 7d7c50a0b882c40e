import type { Context } from '#domain/context/context.ts'
import type { Secret } from '#kernel/secret.ts'
import { newBearer } from './bearer.ts'
import { insertSession, type SessionRow } from './session_store.ts'

/** Absolute: using a session does not extend it. */
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000

export type OpenedSession = SessionRow & { bearer: Secret }

export async function openSession(
  context: Context<null>,
  account_id: string,
): Promise<OpenedSession> {
  const { tx, now, request, keys, random, settings } = context
  const bearer = newBearer('session', {
    random,
    keys,
    livemode: settings.mode === 'live',
    cell: settings.cell,
  })
  const session: SessionRow = {
    account_id,
    id: context.newId('sess'),
    ip: request.ip,
    user_agent: request.user_agent,
    created_at: now,
    expires_at: new Date(now.getTime() + LIFETIME_MS),
  }
  await insertSession(tx, session, bearer.hash)
  return { ...session, bearer: bearer.text }
}

/** For events, so it leaves out the bearer. */
export function sessionView(session: SessionRow): object {
  return {
    id: session.id,
    account_id: session.account_id,
    ip: session.ip,
    user_agent: session.user_agent,
    created_at: session.created_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
  }
}
