import type { Scope } from '#contract/scopes.ts'
import { isSignedIn } from '#domain/accounts/browser_sessions.ts'
import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { expireChallengesOfGrant } from '#domain/authorizations/challenge_store.ts'
import type { Dependencies, SecurityAlert } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import {
  type GrantPayload,
  type GrantRow,
  hasMetClient,
  lockLiveGrantsOf,
  saveGrant,
} from '#domain/credentials/grant_store.ts'
import type { CardAccess } from '#domain/credentials/token_access.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { endGrantWebhooks } from './end_grant.ts'

/** Far longer than a refresh token lives: a grant ends by being revoked, not by being old. */
const LIFETIME_MS = 365 * 24 * 60 * 60 * 1_000

type Needs = Pick<Dependencies, 'db' | 'clock' | 'newId'> & { credentials: Credentials }

export type Asking = {
  account_id: string
  client: { id: string; name: string | null; redirect_uri: string }
  facts: AuditContext
  /** Tells the owner by e-mail, in the transaction of the consent. */
  alert(tx: Tx, alert: SecurityAlert): Promise<void>
}

export type Decision = {
  resources: readonly string[]
  requested: readonly Scope[]
  /** What of the requested was ticked; what was not is taken back where it was granted before. */
  granted: readonly Scope[]
  cards: CardAccess
  /** When whoever decides entered the password. */
  signed_in_at: Date
}

/**
 * Writes down what the account's owner decided and answers with the grant's id, or null where the
 * sign-in is over, because the password was changed meanwhile or the like. One client has one
 * grant for all cards and one for each choice of cards, so that a narrow consent does not widen by
 * what was allowed elsewhere, nor narrow it.
 */
export async function recordConsent(
  needs: Needs,
  asking: Asking,
  decision: Decision,
): Promise<string | null> {
  const { db, clock, credentials } = needs
  const { account_id, client, facts } = asking
  const now = clock.now()
  const id = await db.transaction(async (tx) => {
    if (!(await isSignedIn(tx, account_id, decision.signed_in_at))) return null
    const live = await lockLiveGrantsOf(tx, { account_id, client_id: client.id, now })
    const first = !(await hasMetClient(tx, account_id, client.id))
    const same = live.find((grant) => isForSameCards(grant, decision.cards))
    const grant_id = same?.id ?? needs.newId('grant', now)
    const expires_at = new Date(now.getTime() + LIFETIME_MS)
    const payload = payloadOf(needs, { id: grant_id, asking, decision, before: same?.payload })
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
    await notifyCredentialsChanged(tx, account_id)
    const resource = { type: 'grant', id: grant_id }
    const met = first ? [clientMet(client.id)] : []
    const added = decision.granted.filter((scope) => !heldIn(same?.payload).has(scope))
    if (added.length > 0) {
      const name = client.name ?? 'An app without a name'
      await asking.alert(tx, { kind: 'grant_created', detail: `${name} (${added.join(', ')})` })
    }
    const ended = mayHaveWebhooks(payload) ? [] : await endGrantWebhooks(tx, grant_id, now)
    if (!heldIn(payload).has('card:control')) await expireChallengesOfGrant(tx, grant_id)
    const entries = [...met, { action: 'oauth.granted', resource }, ...ended]
    await recordAudit(tx, account_id, entries, facts)
    return grant_id
  })
  credentials.forget(account_id)
  return id
}

export async function recordRefusal(db: Needs['db'], asking: Asking): Promise<void> {
  const { account_id, client, facts } = asking
  await db.transaction(async (tx: Tx) => {
    const first = !(await hasMetClient(tx, account_id, client.id))
    const resource = { type: 'oauth_client', id: client.id }
    const refused = { action: 'oauth.refused', result: 'denied', resource } as const
    await recordAudit(tx, account_id, [...(first ? [clientMet(client.id)] : []), refused], facts)
  })
}

/** A client registers before it knows any account; the account hears of it when they first meet. */
const clientMet = (id: string) => ({
  action: 'oauth.client_registered',
  resource: { type: 'oauth_client', id },
})

/** A subscription must not outlive the scope that it was made with. */
const mayHaveWebhooks = (payload: GrantPayload): boolean => heldIn(payload).has('webhook:write')

const heldIn = (payload: GrantPayload | undefined): ReadonlySet<string> =>
  new Set(Object.values(payload?.resources ?? {}).flatMap((text) => text.split(' ')))

function isForSameCards(grant: GrantRow, cards: CardAccess): boolean {
  if (grant.card_ids === null || cards === null) return grant.card_ids === null && cards === null
  const same = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((item) => b.includes(item))
  return same(grant.card_ids, cards.card_ids) && same(grant.card_actions ?? [], cards.actions)
}

type Payload = { id: string; asking: Asking; decision: Decision; before: GrantPayload | undefined }

function payloadOf({ clock }: Needs, { id, asking, decision, before }: Payload): GrantPayload {
  // The authorization server judges these two by the world's time; we judge by expires_at.
  const iat = Math.floor(clock.wall().getTime() / 1_000)
  const resources: Record<string, string> = { ...before?.resources }
  for (const resource of decision.resources) {
    const kept = (resources[resource] ?? '')
      .split(' ')
      .filter((scope) => scope !== '' && !decision.requested.includes(scope as Scope))
    resources[resource] = [...kept, ...decision.granted].join(' ')
  }
  const rar = decision.cards?.card_ids.map((identifier) => ({
    type: 'card_access' as const,
    identifier,
    actions: [...(decision.cards?.actions ?? [])],
  }))
  return {
    kind: 'Grant',
    jti: id,
    iat,
    exp: iat + LIFETIME_MS / 1_000,
    accountId: asking.account_id,
    clientId: asking.client.id,
    resources,
    ...(rar !== undefined && { rar }),
  }
}
