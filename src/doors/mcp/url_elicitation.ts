import type { OperationName } from '#contract/operations.ts'
import { type Scope, scope_names, scopes } from '#contract/scopes.ts'
import type { ErrorBody } from '#contract/shapes.ts'
import type { Caller } from '#domain/context/context.ts'
import { findGrant } from '#domain/credentials/grant_store.ts'
import { isWithinActions } from '#domain/credentials/token_access.ts'
import { STEP_UP_MS, sealStepUp } from '#domain/oauth_grants/step_up_request.ts'
import type { Response } from '#operations/call.ts'
import { isForWholeAccount } from '#operations/steps/require_card_access.ts'
import { type Exchange, identify, type ToolCall } from './exchange.ts'
import { ELICITATION_VERSION, isObject, type Params, ProtocolError } from './protocol.ts'

const URL_ELICITATION_REQUIRED = -32_042

/**
 * The server keeps no state of its clients, so this prefix of the session ID says that the client
 * can open a URL for its user. It gives no access.
 */
const PREFIX = 'url_elicitation.'

/** True if the client declares, in initialize, that it can send its user to a URL. */
export function declaresUrlElicitation({ protocolVersion, capabilities }: Params): boolean {
  if (protocolVersion !== ELICITATION_VERSION || !isObject(capabilities)) return false
  const { elicitation } = capabilities
  return isObject(elicitation) && isObject(elicitation['url'])
}

export const elicitingSessionId = (id: string): string => `${PREFIX}${id}`

function canOpenUrls({ request: { headers } }: Exchange): boolean {
  if (headers['mcp-protocol-version'] !== ELICITATION_VERSION) return false
  return String(headers['mcp-session-id'] ?? '').startsWith(PREFIX)
}

type Elicitation = { elicitationId: string; url: string; message: string }

/**
 * The page on which the owner can allow a refused call, for a client that declared that it can open
 * one: the approval page beyond a budget, the consent page for a missing scope.
 */
export async function elicitationIn(
  exchange: Exchange,
  call: ToolCall,
  { problem_code, body }: Response,
): Promise<ProtocolError | undefined> {
  if (problem_code !== 'approval_required' && problem_code !== 'insufficient_scope') {
    return undefined
  }
  if (!canOpenUrls(exchange)) return undefined
  const refusal = JSON.parse(body) as ErrorBody
  const elicitation =
    problem_code === 'approval_required'
      ? approvalElicitation(refusal)
      : await consentElicitation(exchange, call)
  if (elicitation === undefined) return undefined
  const data = { elicitations: [{ mode: 'url', ...elicitation }], ...refusal }
  return new ProtocolError(URL_ELICITATION_REQUIRED, elicitation.message, { status: 200, data })
}

function approvalElicitation({ message, approval }: ErrorBody): Elicitation | undefined {
  return approval && { elicitationId: approval.id, url: approval.url, message }
}

/** The scopes that the call lacks; none if a wider token could not make it either. */
async function consentElicitation(
  exchange: Exchange,
  call: ToolCall,
): Promise<Elicitation | undefined> {
  const { runtime, tools, request_context } = exchange
  const caller = await identify(exchange)
  const needed = tools.scopesFor(call)
  const missing = scope_names.filter((scope) => needed.includes(scope) && !caller.scopes.has(scope))
  const grant_id = await grantToWiden(exchange, call, { caller, missing })
  if (grant_id === undefined) return undefined
  const expires_at = new Date(runtime.clock.now().getTime() + STEP_UP_MS)
  const held = [...caller.scopes]
  const sealed = sealStepUp(runtime.keys, { grant_id, held, missing, expires_at })
  return {
    elicitationId: request_context.id,
    url: `${runtime.settings.public_url}/oauth/step_up?request=${sealed}`,
    message: `This app needs your permission: ${missing.map((scope) => scopes[scope]).join(' ')}`,
  }
}

type MissingScopes = { caller: Caller; missing: readonly Scope[] }

/** A grant limited to cards cannot gain an action, nor access to the whole account. */
async function grantToWiden(
  { runtime }: Exchange,
  { name }: ToolCall,
  { caller, missing }: MissingScopes,
): Promise<string | undefined> {
  const { grant_id, card_ids } = caller
  if (missing.length === 0) return undefined
  if (grant_id === undefined || card_ids === null) return grant_id
  if (isForWholeAccount(name as OperationName)) return undefined
  const grant = await findGrant(runtime.db, grant_id)
  const actions = grant?.card_actions ?? null
  return missing.every((scope) => isWithinActions(scope, actions)) ? grant_id : undefined
}
