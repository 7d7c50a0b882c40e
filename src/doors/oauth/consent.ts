import type { FastifyReply } from 'fastify'
import { type Scope, scope_names } from '#contract/scopes.ts'
import { findAccount } from '#domain/accounts/account_store.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import { type CardChoice, findCardChoices } from '#domain/cards/card_choices.ts'
import { resourceNamed } from '#domain/credentials/resource.ts'
import { type CardAccess, card_action_names } from '#domain/credentials/token_access.ts'
import { insertSecurityNotices } from '#domain/notices/security_alerts.ts'
import { type Asking, recordConsent, recordRefusal } from '#domain/oauth_grants/grant_consent.ts'
import { lockLiveGrantsOf } from '#domain/oauth_grants/grant_store.ts'
import { type AskedCards, askedCards } from './card_details.ts'
import { confirmSignIn } from './confirm.ts'
import { consent_headers, consentPage } from './consent_page.ts'
import { deny, finish, type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'

/** What the client requested. */
type Asked = {
  account_id: string
  client_id: string
  requested: Scope[]
  resources: string[]
  cards: AskedCards | null
}

function askedIn({ interaction }: InteractionContext): Asked {
  const { params, session } = interaction
  if (session?.accountId === undefined) throw new errors.SessionNotFound('nobody is signed in')
  const { resource } = params
  const scopes = new Set(String(params['scope'] ?? '').split(' '))
  return {
    account_id: session.accountId,
    client_id: String(params['client_id']),
    requested: scope_names.filter((scope) => scopes.has(scope)),
    resources: Array.isArray(resource) ? resource.map(String) : [String(resource)],
    cards: askedCards(params['authorization_details']),
  }
}

export async function showConsent(
  visit: InteractionContext,
  complaint?: string,
): Promise<FastifyReply> {
  const { runtime, client_name, redirect, csrf, form, reply } = visit
  const { db, settings } = runtime
  const asked = askedIn(visit)
  const account = await findAccount(db, asked.account_id)
  const cards = await findCardChoices(db, asked.account_id)
  const text = consentPage({
    mode: settings.mode,
    client_name,
    redirect,
    resource_names: asked.resources.map((address) =>
      resourceNamed(settings, address) === 'rest' ? 'the API' : 'the agent tools',
    ),
    email: account.email,
    csrf,
    requested: asked.requested,
    held: await heldScopes(visit, asked),
    cards,
    asked_card_ids: asked.cards?.card_ids ?? null,
    ...(complaint !== undefined && {
      complaint: { text: complaint, ticked: new Set(form.getAll('scope')) },
    }),
  })
  return sendPage(reply, complaint === undefined ? 200 : 400, text, consent_headers)
}

/** Scopes the client already has for all cards; card-restricted requests start from the default. */
async function heldScopes(
  { runtime }: InteractionContext,
  asked: Asked,
): Promise<ReadonlySet<Scope>> {
  if (asked.cards !== null) return new Set()
  const { account_id, client_id } = asked
  const now = runtime.clock.now()
  const grants = await lockLiveGrantsOf(runtime.db, { account_id, client_id, now })
  const open = grants.find((grant) => grant.card_ids === null)
  const texts = Object.values(open?.payload.resources ?? {})
  return new Set(texts.flatMap((text) => text.split(' ') as Scope[]))
}

export async function decide(
  visit: InteractionContext,
  decision: 'allow' | 'deny',
): Promise<FastifyReply> {
  const asked = askedIn(visit)
  const ticked = new Set(visit.form.getAll('scope'))
  const granted = asked.requested.filter((scope) => ticked.has(scope))
  if (decision === 'allow' && granted.length > 0) return grant(visit, asked, granted)
  await recordRefusal(visit.runtime.db, askingOf(visit, asked))
  return deny(visit)
}

function askingOf(visit: InteractionContext, asked: Asked): Asking {
  const { runtime, client_name, facts, interaction } = visit
  const request = { ...facts, idempotency_key: null }
  const redirect_uri = String(interaction.params['redirect_uri'])
  return {
    account_id: asked.account_id,
    client: { id: asked.client_id, name: client_name, redirect_uri },
    facts: {
      ...auditContextOf({ ...runtime, caller: null, request, operation: '' }),
      operation: null,
    },
    alert: (tx, alert) =>
      insertSecurityNotices(tx, asked.account_id, [alert], { ...runtime, request }),
  }
}

async function grant(
  visit: InteractionContext,
  asked: Asked,
  granted: Scope[],
): Promise<FastifyReply> {
  const { runtime } = visit
  const { account_id, requested, resources } = asked
  const cards = chosenCards(visit, asked, await findCardChoices(runtime.db, account_id))
  if (cards === 'none') return showConsent(visit, 'Select at least one card, or all cards.')
  const signed_in_at = await signedInAt(visit)
  const { email } = await findAccount(runtime.db, account_id)
  const asks = await confirmSignIn(visit, { account_id, email, granted, signed_in_at })
  if (asks !== null) return asks
  const decision = { requested, resources, granted, cards, signed_in_at }
  const grantId = await recordConsent(runtime, askingOf(visit, asked), decision)
  if (grantId === null) throw new errors.SessionNotFound('this sign-in is over')
  return finish(visit, { consent: { grantId } })
}

async function signedInAt({ provider, interaction }: InteractionContext): Promise<Date> {
  const session = await provider.Session.findByUid(interaction.session?.uid ?? '')
  if (session?.loginTs === undefined) throw new errors.SessionNotFound('nobody is signed in')
  return new Date(session.loginTs * 1_000)
}

/** Keeps only cards of the account and, if the client asked for specific cards, only those. */
function chosenCards(
  { form }: InteractionContext,
  asked: Asked,
  own: readonly CardChoice[],
): CardAccess | 'none' {
  const ticked = new Set(form.getAll('card'))
  // A checked card wins over "all": the user means that card, whatever else the form says.
  if (asked.cards === null && ticked.size === 0 && form.get('cards') !== 'some') return null
  const card_ids = own
    .map(({ id }) => id)
    .filter((id) => ticked.has(id) && (asked.cards?.card_ids.includes(id) ?? true))
  if (card_ids.length === 0) return 'none'
  return { card_ids, actions: asked.cards?.actions ?? card_action_names }
}
