import { accountSuspended, tokenRevoked, totpRequired } from '#contract/common_problems.ts'
import type { AccountRow } from '#domain/accounts/account.ts'
import { lockAccount } from '#domain/accounts/account_store.ts'
import { consumeCode } from '#domain/accounts/two_factor.ts'
import { requireCurrentPassword, requireSamePassword } from '#domain/accounts/update_account.ts'
import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { findCardOf } from '#domain/cards/card_store.ts'
import type { Caller, Dependencies, SecurityAlert } from '#domain/context/context.ts'
import { findCredentialEnd } from '#domain/credentials/credential_store.ts'
import { type GrantPayload, PANEL_CLIENT_ID, saveGrant } from '#domain/credentials/grant_store.ts'
import { newLinkToken } from '#domain/credentials/link_token.ts'
import { oauthHash } from '#domain/credentials/oauth_hash.ts'
import { upsertPayload } from '#domain/credentials/oauth_payload_store.ts'
import { resourceUrl } from '#domain/credentials/resource.ts'
import { Secret } from '#kernel/secret.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** The reveal follows immediately; a crash in between leaves a token of this length. */
const LIFETIME_MS = 60_000
const SCOPE = 'card:reveal_pan'

export type RevealRequest = { card_id: string; password: string; totp_code?: string | undefined }

type RevealContext = {
  caller: Caller
  audit_context: AuditContext
  /** Emails the owner, in the transaction of the grant. */
  alert(tx: Tx, alert: SecurityAlert): Promise<void>
}

export type RevealGrant = { grant_id: string; token: Secret }

/**
 * Gives the panel a token that can reveal one card, after the owner entered the password and, with
 * two-factor authentication, a code: the rule of the consent page without the page, because the
 * owner is the person who asks. The panel's client has no registration, so nobody else can use it.
 */
export async function openRevealGrant(
  dependencies: Dependencies,
  context: RevealContext,
  request: RevealRequest,
): Promise<RevealGrant> {
  const { db, clock } = dependencies
  const { caller } = context
  const now = clock.now()
  const card = await findCardOf(db, { account_id: caller.account_id, id: request.card_id }, now)
  const checked = await requireCurrentPassword({ ...dependencies, caller, now }, request.password)
  await requireCode(dependencies, checked, request.totp_code)
  const token = new Secret(newLinkToken(dependencies))
  const grant_id = dependencies.newId('grant', now)
  await db.transaction(async (tx) => {
    await requireUnchanged(tx, caller, checked)
    await saveRevealGrant(tx, dependencies, { caller, card_id: card.id, grant_id, token, now })
    await context.alert(tx, { kind: 'card_revealed', detail: `card ending in ${card.last4}` })
    const entry = { action: 'oauth.granted', resource: { type: 'grant', id: grant_id } }
    await recordAudit(tx, caller.account_id, [entry], context.audit_context)
  })
  return { grant_id, token }
}

async function requireCode(
  dependencies: Dependencies,
  account: AccountRow,
  totp_code: string | undefined,
): Promise<void> {
  if (account.totp_status !== 'enabled') return
  if (totp_code === undefined) throw totpRequired()
  const now = dependencies.clock.now()
  await consumeCode({ ...dependencies, now }, account, { totp_code })
}

/** The password, the second factor or the session may have changed while the hash was computed. */
async function requireUnchanged(tx: Tx, caller: Caller, checked: AccountRow): Promise<void> {
  const account = await lockAccount(tx, caller.account_id)
  requireSamePassword(account, checked)
  if (account.status === 'suspended') throw accountSuspended()
  if (account.totp_status === 'enabled' && checked.totp_status !== 'enabled') throw totpRequired()
  const credential = await findCredentialEnd(tx, caller)
  if (credential === undefined || credential.ended_at !== null) throw tokenRevoked()
}

type NewRevealGrant = {
  caller: Caller
  card_id: string
  grant_id: string
  token: Secret
  now: Date
}

async function saveRevealGrant(
  tx: Tx,
  { settings, keys, clock }: Dependencies,
  { caller, card_id, grant_id, token, now }: NewRevealGrant,
): Promise<void> {
  const { account_id } = caller
  const audience = resourceUrl(settings, 'rest')
  const expires_at = new Date(now.getTime() + LIFETIME_MS)
  const iat = Math.floor(clock.wall().getTime() / 1_000)
  const payload: GrantPayload = {
    kind: 'Grant',
    jti: grant_id,
    iat,
    exp: iat + LIFETIME_MS / 1_000,
    accountId: account_id,
    clientId: PANEL_CLIENT_ID,
    resources: { [audience]: SCOPE },
    rar: [{ type: 'card_access', identifier: card_id, actions: ['reveal_pan'] }],
  }
  await saveGrant(tx, {
    account_id,
    id: grant_id,
    client_id: PANEL_CLIENT_ID,
    client_name: 'Florin panel',
    redirect_uri: settings.public_url,
    payload,
    card_ids: [card_id],
    card_actions: ['reveal_pan'],
    now,
    expires_at,
  })
  await upsertPayload(tx, {
    model: 'AccessToken',
    id: oauthHash(keys, token.open()),
    payload: { aud: audience, scope: SCOPE },
    grant_id,
    uid: null,
    client_id: PANEL_CLIENT_ID,
    account_id: null,
    signed_in_at: null,
    now,
    expires_at,
  })
}
