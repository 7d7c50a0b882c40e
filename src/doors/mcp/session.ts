import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import {
  deleteMcpSession,
  hasMcpSession,
  insertMcpSession,
  type McpSession,
} from '#domain/oauth_grants/mcp_session_store.ts'
import type { Exchange } from './exchange.ts'
import { elicitingSessionId } from './url_elicitation.ts'

/**
 * Sessions for clients that want one. A session is not a credential: it is bound to the bearer's
 * owner, and each request carries the bearer all the same.
 */
const LIFETIME_MS = 24 * 60 * 60 * 1_000
const ID_BYTES = 24
const PURPOSE = 'mcp_session'

/** Null if the client needs none: sessions are off, and it declares nothing to be remembered. */
export async function openSession(
  { runtime }: Exchange,
  caller: Caller,
  canOpenUrls: boolean,
): Promise<string | null> {
  const random = Buffer.from(runtime.random.bytes(ID_BYTES)).toString('base64url')
  const id = canOpenUrls ? elicitingSessionId(random) : random
  if (!runtime.settings.mcp_sessions) return canOpenUrls ? id : null
  const expires_at = new Date(runtime.clock.now().getTime() + LIFETIME_MS)
  await insertMcpSession(
    runtime.db,
    sessionOf(caller, [runtime.keys.credentialHash(PURPOSE, id)]),
    expires_at,
  )
  return id
}

/** Without the header the call is served as if there were no sessions: they are optional. */
export async function requireSession(exchange: Exchange, caller: Caller): Promise<void> {
  const { runtime, request } = exchange
  const id = request.headers['mcp-session-id']
  if (id === undefined) return
  const session = sessionOf(caller, runtime.keys.credentialHashes(PURPOSE, String(id)))
  if (await hasMcpSession(runtime.db, session, runtime.clock.now())) return
  throw noSession()
}

export async function endSession(exchange: Exchange, caller: Caller): Promise<void> {
  const { runtime, request } = exchange
  const id = String(request.headers['mcp-session-id'] ?? '')
  const session = sessionOf(caller, runtime.keys.credentialHashes(PURPOSE, id))
  if (!(await deleteMcpSession(runtime.db, session))) throw noSession()
}

function sessionOf({ account_id, kind, id }: Caller, id_hashes: string[]): McpSession {
  return { id_hashes, account_id, credential: `${kind}|${id}` }
}

function noSession(): Problem {
  return new Problem('not_found', 'No such session. Send initialize to start a new one.')
}
