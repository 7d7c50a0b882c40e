import { type Scope, scope_names } from '#contract/scopes.ts'
import { lockIfSignedIn } from '#domain/accounts/browser_sessions.ts'
import { recordAudit } from '#domain/audit/audit.ts'
import { nameOfAgent } from '#domain/budgets/approval.ts'
import { type Budget, detailOf } from '#domain/budgets/budget.ts'
import { setBudget } from '#domain/budgets/set_budget.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import {
  type GrantRow,
  lockLiveGrantsOf,
  saveBudgetDetail,
  saveGrantResources,
} from '#domain/credentials/grant_store.ts'
import { lockTokensOfGrant, saveTokenScope } from '#domain/credentials/oauth_payload_store.ts'
import { type Audience, audienceOf, resourceUrl } from '#domain/credentials/resource.ts'
import { grantedScopes } from '#domain/credentials/token_access.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Settings } from '#settings/settings.ts'
import type { ConsentContext } from './grant_consent.ts'
import type { StepUpRequest } from './step_up_request.ts'

type StepUpDependencies = {
  db: Database
  clock: Clock
  credentials: Credentials
  settings: Settings
}

export type StepUpDecision = {
  request: StepUpRequest
  granted: readonly Scope[]
  /** Undefined keeps the budget of the grant. */
  budget: Budget | null | undefined
  signed_in_at: Date
}

/**
 * Adds scopes to a grant and to the tokens that were refused, so the client can repeat its call
 * with the token it has. False if the sign-in or the grant has ended since.
 */
export async function recordStepUp(
  { db, clock, credentials, settings }: StepUpDependencies,
  context: ConsentContext,
  { request, granted, budget, signed_in_at }: StepUpDecision,
): Promise<boolean> {
  const { account_id, client, audit_context } = context
  const now = clock.now()
  const isRecorded = await db.transaction(async (tx) => {
    if (!(await lockIfSignedIn(tx, account_id, signed_in_at))) return false
    const live = await lockLiveGrantsOf(tx, { account_id, client_id: client.id, now })
    const grant = live.find(({ id }) => id === request.grant_id)
    if (grant === undefined) return false
    const key = { account_id, id: grant.id }
    const added = await widenGrant(tx, settings, { grant, granted, now })
    await widenTokens(tx, settings, { grant, request, granted, now })
    if (budget !== undefined) {
      const detail = budget === null ? null : detailOf(budget)
      await saveBudgetDetail(tx, key, { detail, now })
      const client_key = { account_id, client_id: client.id }
      await setBudget(tx, { ...client_key, grant_id: grant.id }, { budget, now })
    }
    await notifyCredentialsChanged(tx, account_id)
    if (added.length > 0) {
      const name = nameOfAgent(client.name)
      await context.alert(tx, { kind: 'grant_created', detail: `${name} (${added.join(', ')})` })
    }
    const resource = { type: 'grant', id: grant.id }
    await recordAudit(tx, account_id, [{ action: 'oauth.granted', resource }], audit_context)
    return true
  })
  credentials.forget(account_id)
  return isRecorded
}

type GrantWidening = { grant: GrantRow; granted: readonly Scope[]; now: Date }

const scopesIn = (text: string) => text.split(' ').filter((scope) => scope !== '')

/** Returns the scopes that the grant did not have. */
async function widenGrant(
  tx: Tx,
  settings: Settings,
  { grant, granted, now }: GrantWidening,
): Promise<Scope[]> {
  const { account_id, id, payload } = grant
  const mcp = resourceUrl(settings, 'mcp')
  const both = resourceUrl(settings, 'both')
  const widen = (text = '') => [...new Set([...scopesIn(text), ...granted])].join(' ')
  const resources = { ...payload.resources, [mcp]: widen(payload.resources[mcp]) }
  if (both in resources) resources[both] = widen(resources[both])
  await saveGrantResources(tx, { account_id, id }, { resources, now })
  const before = scopesIn(payload.resources[mcp] ?? '')
  return granted.filter((scope) => !before.includes(scope))
}

const isForTools = (audience: Audience | null) => audience === 'mcp' || audience === 'both'

type TokenWidening = GrantWidening & { request: StepUpRequest }

/**
 * A client may hold tokens that it narrowed on purpose; those stay as they are. Refresh tokens
 * always have the scopes of the whole grant.
 */
async function widenTokens(
  tx: Tx,
  settings: Settings,
  { grant, request, granted, now }: TokenWidening,
): Promise<void> {
  const held = scope_names.filter((scope) => request.held.includes(scope)).join(' ')
  const { id: grant_id, card_ids, card_actions, payload } = grant
  for (const token of await lockTokensOfGrant(tx, grant_id, now)) {
    const { model, id, scope, audience } = token
    if (model === 'AccessToken') {
      if (audience === null || !isForTools(audienceOf(settings, audience))) continue
      const details = { audience, scope, grant_id, card_ids, card_actions }
      const current = grantedScopes(settings, { ...details, granted: payload.resources })
      if ([...current].join(' ') !== held) continue
    }
    const widened = new Set([...scopesIn(scope), ...granted])
    await saveTokenScope(tx, { model, id, scope: [...widened].join(' ') })
  }
}
