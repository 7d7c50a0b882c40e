import type { Scope } from '#contract/scopes.ts'
import { lockIfSignedIn } from '#domain/accounts/browser_sessions.ts'
import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { expireChallengesOfGrant } from '#domain/authorizations/challenge_store.ts'
import { nameOfAgent } from '#domain/budgets/approval.ts'
import { type Budget, detailOf } from '#domain/budgets/budget.ts'
import { findBudgets } from '#domain/budgets/budget_store.ts'
import { restartTotal, setBudget } from '#domain/budgets/set_budget.ts'
import type { Dependencies, SecurityAlert } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import {
  type GrantPayload,
  type GrantRow,
  isKnownClient,
  lockLiveGrantsOf,
  saveGrant,
} from '#domain/credentials/grant_store.ts'
import { resourceUrl } from '#domain/credentials/resource.ts'
import type { CardAccess } from '#domain/credentials/token_access.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Settings } from '#settings/settings.ts'
import { endGrantWebhooks } from './end_grant.ts'

/** Much longer than a refresh token: in practice a grant ends when it is revoked. */
const LIFETIME_MS = 365 * 24 * 60 * 60 * 1_000

type ConsentDependencies = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  credentials: Credentials
  settings: Settings
}

export type ConsentContext = {
  account_id: string
  client: { id: string; name: string | null; redirect_uri: string }
  audit_context: AuditContext
  /** Emails the owner, in the transaction of the consent. */
  alert(tx: Tx, alert: SecurityAlert): Promise<void>
}

export type ConsentDecision = {
  resources: readonly string[]
  requested: readonly Scope[]
  /** Requested scopes that are not granted are revoked if an earlier consent granted them. */
  granted: readonly Scope[]
  cards: CardAccess
  /**
   * Undefined, if the owner has not seen one, keeps the budget that the grant or, for a new one,
   * the client has.
   */
  budget: Budget | null | undefined
  /** The client asks for it. It never replaces a budget by itself. */
  requested_budget: Budget | null
  signed_in_at: Date
}

/**
 * Stores the owner's consent and returns the grant id, or null if the sign-in has ended since, for
 * example because the password was changed. A client has one grant for all cards and one for each
 * selection of cards, so consents with different cards don't widen or narrow each other.
 */
export async function recordConsent(
  dependencies: ConsentDependencies,
  context: ConsentContext,
  decision: ConsentDecision,
): Promise<string | null> {
  const { db, clock, newId, credentials } = dependencies
  const { account_id, client, audit_context } = context
  const now = clock.now()
  const id = await db.transaction(async (tx) => {
    if (!(await lockIfSignedIn(tx, account_id, decision.signed_in_at))) return null
    const live = await lockLiveGrantsOf(tx, { account_id, client_id: client.id, now })
    const isNewClient = !(await isKnownClient(tx, account_id, client.id))
    const same = live.find((grant) => isForSameCards(grant, decision.cards))
    const grant_id = same?.id ?? newId('grant', now)
    const expires_at = new Date(now.getTime() + LIFETIME_MS)
    const budget =
      decision.budget === undefined
        ? ((await findKeptBudget(tx, account_id, { live, same })) ?? decision.requested_budget)
        : decision.budget
    const before = same?.payload
    const payload = payloadOf(dependencies, { id: grant_id, context, decision, budget, before })
    await saveGrant(tx, {
      account_id,
      id: grant_id,
      client_id: client.id,
      client_name: client.name,
      redirect_uri: client.redirect_uri,
      payload,
      card_ids: decision.cards === null ? null : [...decision.cards.card_ids],
      card_actions: decision.cards === null ? null : [...decision.cards.actions],
      now,
      expires_at,
    })
    const client_key = { account_id, client_id: client.id }
    if (live.length === 0) await restartTotal(tx, client_key, now)
    await setBudget(tx, { ...client_key, grant_id }, { budget, now })
    await notifyCredentialsChanged(tx, account_id)
    const resource = { type: 'grant', id: grant_id }
    const registered = isNewClient ? [clientRegistered(client.id)] : []
    const added = decision.granted.filter((scope) => !scopesIn(same?.payload).has(scope))
    if (added.length > 0) {
      const name = nameOfAgent(client.name)
      await context.alert(tx, { kind: 'grant_created', detail: `${name} (${added.join(', ')})` })
    }
    const ended = canHaveWebhooks(payload) ? [] : await endGrantWebhooks(tx, grant_id, now)
    if (!scopesIn(payload).has('card:control')) await expireChallengesOfGrant(tx, grant_id)
    const entries = [...registered, { action: 'oauth.granted', resource }, ...ended]
    await recordAudit(tx, account_id, entries, audit_context)
    return grant_id
  })
  credentials.forget(account_id)
  return id
}

/** A client must not get rid of its budget by asking for another selection of cards. */
async function findKeptBudget(
  tx: Tx,
  account_id: string,
  { live, same }: { live: readonly GrantRow[]; same: GrantRow | undefined },
): Promise<Budget | null> {
  const budgets = await findBudgets(tx, account_id)
  const budgetOf = (grant: GrantRow) => budgets.find(({ grant_id }) => grant_id === grant.id)
  if (same !== undefined) return budgetOf(same) ?? null
  return live.flatMap((grant) => budgetOf(grant) ?? [])[0] ?? null
}

export async function recordRefusal(db: Database, context: ConsentContext): Promise<void> {
  const { account_id, client, audit_context } = context
  await db.transaction(async (tx: Tx) => {
    const isNewClient = !(await isKnownClient(tx, account_id, client.id))
    const resource = { type: 'oauth_client', id: client.id }
    const refused = { action: 'oauth.refused', result: 'denied', resource } as const
    const registered = isNewClient ? [clientRegistered(client.id)] : []
    await recordAudit(tx, account_id, [...registered, refused], audit_context)
  })
}

/** A client registers without an account, so its registration is audited at the first consent. */
const clientRegistered = (id: string) => ({
  action: 'oauth.client_registered',
  resource: { type: 'oauth_client', id },
})

/** A webhook must not outlive the scope it was created with. */
const canHaveWebhooks = (payload: GrantPayload): boolean => scopesIn(payload).has('webhook:write')

const scopesIn = (payload: GrantPayload | undefined): ReadonlySet<string> =>
  new Set(Object.values(payload?.resources ?? {}).flatMap((text) => text.split(' ')))

function isForSameCards(grant: GrantRow, cards: CardAccess): boolean {
  if (grant.card_ids === null || cards === null) return grant.card_ids === null && cards === null
  const same = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((item) => b.includes(item))
  return same(grant.card_ids, cards.card_ids) && same(grant.card_actions ?? [], cards.actions)
}

type GrantInput = {
  id: string
  context: ConsentContext
  decision: ConsentDecision
  budget: Budget | null
  before: GrantPayload | undefined
}

function payloadOf({ clock, settings }: ConsentDependencies, input: GrantInput): GrantPayload {
  const { id, context, decision, budget, before } = input
  // The authorization server compares these with the real time; we use expires_at.
  const iat = Math.floor(clock.wall().getTime() / 1_000)
  const resources: Record<string, string> = { ...before?.resources }
  const without = (text: string | undefined, scopes: readonly Scope[]): string[] =>
    (text ?? '').split(' ').filter((one) => one !== '' && !scopes.includes(one as Scope))
  for (const resource of decision.resources) {
    const kept = without(resources[resource], decision.requested)
    resources[resource] = [...kept, ...decision.granted].join(' ')
  }
  // Tokens for both resources work at each of them, so they lose what was refused for one.
  const both = resourceUrl(settings, 'both')
  if (both in resources && !decision.resources.includes(both)) {
    const refused = decision.requested.filter((scope) => !decision.granted.includes(scope))
    resources[both] = without(resources[both], refused).join(' ')
  }
  const cards = decision.cards?.card_ids.map((identifier) => ({
    type: 'card_access' as const,
    identifier,
    actions: [...(decision.cards?.actions ?? [])],
  }))
  const rar = [...(cards ?? []), ...(budget === null ? [] : [detailOf(budget)])]
  return {
    kind: 'Grant',
    jti: id,
    iat,
    exp: iat + LIFETIME_MS / 1_000,
    accountId: context.account_id,
    clientId: context.client.id,
    resources,
    ...(rar.length > 0 && { rar }),
  }
}
