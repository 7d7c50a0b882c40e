import type { FastifyReply } from 'fastify'
import { type Scope, scope_names } from '#contract/scopes.ts'
import { findAccount } from '#domain/accounts/account_store.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Budget } from '#domain/budgets/budget.ts'
import { findBudgets } from '#domain/budgets/budget_store.ts'
import { type CardChoice, findCardChoices } from '#domain/cards/card_choices.ts'
import { lockLiveGrantsOf } from '#domain/credentials/grant_store.ts'
import { type Audience, audienceOf, type ResourceName } from '#domain/credentials/resource.ts'
import { type CardAccess, card_action_names } from '#domain/credentials/token_access.ts'
import { insertSecurityNotices } from '#domain/notices/security_alerts.ts'
import {
  type ConsentContext,
  recordConsent,
  recordRefusal,
} from '#domain/oauth_grants/grant_consent.ts'
import { requestedBudget } from './budget_details.ts'
import { budgetTexts, enteredBudget, enteredTexts } from './budget_fields.ts'
import { type RequestedCards, requestedCards } from './card_details.ts'
import { confirmSignIn } from './confirm.ts'
import { consent_headers, consentError, consentPage, NO_REQUESTED_CARD } from './consent_page.ts'
import { deny, finish, type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'

/** The access that the client requests. */
type ConsentRequest = {
  account_id: string
  client_id: string
  requested: Scope[]
  resources: string[]
  cards: RequestedCards | null
  budget: Budget | null
}

function consentRequestOf({ interaction }: InteractionContext): ConsentRequest {
  const { params, session } = interaction
  if (session?.accountId === undefined) throw new errors.SessionNotFound('no user is signed in')
  const { resource } = params
  const scopes = new Set(String(params['scope'] ?? '').split(' '))
  return {
    account_id: session.accountId,
    client_id: String(params['client_id']),
    requested: scope_names.filter((scope) => scopes.has(scope)),
    resources: Array.isArray(resource) ? resource.map(String) : [String(resource)],
    cards: requestedCards(params['authorization_details']),
    budget: requestedBudget(params['authorization_details']),
  }
}

export async function showConsent(
  context: InteractionContext,
  error_message?: string,
): Promise<FastifyReply> {
  const { runtime, client_name, redirect, csrf, form, reply } = context
  const { db, settings } = runtime
  const request = consentRequestOf(context)
  const account = await findAccount(db, request.account_id)
  const cards = await findCardChoices(db, request.account_id, request.cards?.card_ids ?? null)
  const text = consentPage({
    mode: settings.mode,
    client_name,
    redirect,
    resource_names: resourceNames(request.resources.map((url) => audienceOf(settings, url))),
    email: account.email,
    csrf,
    requested: request.requested,
    already_granted: await grantedScopes(context, request),
    cards,
    requested_card_ids: request.cards?.card_ids ?? null,
    isBudgetRequested: request.budget !== null,
    budget:
      error_message === undefined
        ? budgetTexts(request.budget ?? (await keptBudget(context, request)))
        : enteredTexts(form),
    ...(error_message !== undefined && {
      error: consentError(error_message, form),
    }),
  })
  return sendPage(reply, error_message === undefined ? 200 : 400, text, consent_headers)
}

function resourceNames(audiences: readonly (Audience | null)[]): string[] {
  const isFor = (resource: ResourceName) =>
    audiences.includes(resource) || audiences.includes('both')
  return [...(isFor('mcp') ? ['the agent tools'] : []), ...(isFor('rest') ? ['the API'] : [])]
}

/** The budget that the client has now, so that the owner sees and can change it. */
async function keptBudget(
  { runtime: { db, clock } }: InteractionContext,
  { account_id, client_id }: ConsentRequest,
): Promise<Budget | null> {
  const live = await lockLiveGrantsOf(db, { account_id, client_id, now: clock.now() })
  const budgets = await findBudgets(db, account_id)
  return budgets.find(({ grant_id }) => live.some(({ id }) => id === grant_id)) ?? null
}

/** Scopes the client already has for all cards; card-restricted requests start from the default. */
async function grantedScopes(
  { runtime }: InteractionContext,
  request: ConsentRequest,
): Promise<ReadonlySet<Scope>> {
  if (request.cards !== null) return new Set()
  const { account_id, client_id } = request
  const now = runtime.clock.now()
  const grants = await lockLiveGrantsOf(runtime.db, { account_id, client_id, now })
  const open = grants.find((grant) => grant.card_ids === null)
  const texts = Object.values(open?.payload.resources ?? {})
  return new Set(texts.flatMap((text) => text.split(' ') as Scope[]))
}

export async function submitConsent(
  context: InteractionContext,
  decision: 'allow' | 'deny',
): Promise<FastifyReply> {
  const request = consentRequestOf(context)
  const checked = new Set(context.form.getAll('scope'))
  const granted = request.requested.filter((scope) => checked.has(scope))
  if (decision === 'allow' && granted.length > 0) return grant(context, request, granted)
  await recordRefusal(context.runtime.db, consentContextOf(context, request))
  return deny(context)
}

export function consentContextOf(
  context: InteractionContext,
  { account_id, client_id }: Pick<ConsentRequest, 'account_id' | 'client_id'>,
): ConsentContext {
  const { runtime, client_name, request_context, interaction } = context
  const request = { ...request_context, idempotency_key: null }
  const redirect_uri = String(interaction.params['redirect_uri'])
  return {
    account_id,
    client: { id: client_id, name: client_name, redirect_uri },
    audit_context: auditContextOf({ ...runtime, caller: null, request, operation: null }),
    alert: (tx, alert) => insertSecurityNotices(tx, account_id, [alert], { ...runtime, request }),
  }
}

async function grant(
  context: InteractionContext,
  request: ConsentRequest,
  granted: Scope[],
): Promise<FastifyReply> {
  const { runtime } = context
  const { account_id, requested, resources } = request
  const own = await findCardChoices(runtime.db, account_id, request.cards?.card_ids ?? null)
  const cards = selectedCards(context, request, own)
  if (cards === 'none') return showConsent(context, noCardSentence(request, own))
  const entered = enteredBudget(context.form)
  if ('problem' in entered) return showConsent(context, entered.problem)
  const signed_in_at = await signedInAt(context)
  const { email } = await findAccount(runtime.db, account_id)
  const confirmation = await confirmSignIn(context, { account_id, email, granted, signed_in_at })
  if (confirmation !== null) return confirmation
  const { budget } = entered
  const budgets = { budget, requested_budget: request.budget }
  const decision = { requested, resources, granted, cards, ...budgets, signed_in_at }
  const grantId = await recordConsent(runtime, consentContextOf(context, request), decision)
  if (grantId === null) throw new errors.SessionNotFound('the sign-in has expired')
  return finish(context, { consent: { grantId } })
}

/** Says how the owner can go on after a selection without cards. */
function noCardSentence({ cards }: ConsentRequest, own: readonly CardChoice[]): string {
  if (cards === null) return 'Select at least one card, or all cards.'
  return own.some(({ id }) => cards.card_ids.includes(id))
    ? 'Select at least one card.'
    : NO_REQUESTED_CARD
}

export async function signedInAt({ provider, interaction }: InteractionContext): Promise<Date> {
  const session = await provider.Session.findByUid(interaction.session?.uid ?? '')
  if (session?.loginTs === undefined) throw new errors.SessionNotFound('no user is signed in')
  return new Date(session.loginTs * 1_000)
}

/** Keeps only cards of the account and, if the client requested specific cards, only those. */
function selectedCards(
  { form }: InteractionContext,
  request: ConsentRequest,
  own: readonly CardChoice[],
): CardAccess | 'none' {
  const checked = new Set(form.getAll('card'))
  // A checked card wins over "all": the user means that card.
  if (request.cards === null && checked.size === 0 && form.get('cards') !== 'some') return null
  const card_ids = own
    .map(({ id }) => id)
    .filter((id) => checked.has(id) && (request.cards?.card_ids.includes(id) ?? true))
  if (card_ids.length === 0) return 'none'
  return { card_ids, actions: request.cards?.actions ?? card_action_names }
}
