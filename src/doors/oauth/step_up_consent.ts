import type { FastifyReply } from 'fastify'
import { findAccount } from '#domain/accounts/account_store.ts'
import type { Budget } from '#domain/budgets/budget.ts'
import { findBudgets } from '#domain/budgets/budget_store.ts'
import { findCardChoices } from '#domain/cards/card_choices.ts'
import { resourceUrl } from '#domain/credentials/resource.ts'
import { recordRefusal } from '#domain/oauth_grants/grant_consent.ts'
import { recordStepUp } from '#domain/oauth_grants/record_step_up.ts'
import type { StepUp } from '#domain/oauth_grants/step_up_request.ts'
import type { Settings } from '#settings/settings.ts'
import { budgetTexts, enteredBudget, enteredTexts } from './budget_fields.ts'
import { confirmSignIn } from './confirm.ts'
import { consentContextOf, signedInAt } from './consent.ts'
import { consent_headers, consentError, consentPage } from './consent_page.ts'
import { type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'
import { closedStepUpPage, wrongAccountPage } from './step_up_page.ts'

function signedInAccount({ interaction }: InteractionContext): string {
  const account_id = interaction.session?.accountId
  if (account_id === undefined) throw new errors.SessionNotFound('no user is signed in')
  return account_id
}

/** The consent page for the missing scopes. The grant's cards stay; its budget can be changed. */
export async function showStepUp(
  context: InteractionContext,
  { request, grant }: StepUp,
  error_message?: string,
): Promise<FastifyReply> {
  const { runtime, client_name, redirect, csrf, form, reply } = context
  const { mode } = runtime.settings
  const account = await findAccount(runtime.db, signedInAccount(context))
  const { id, email } = account
  if (id !== grant.account_id) {
    return sendPage(reply, 403, wrongAccountPage(mode, { csrf, client_name, email }))
  }
  const text = consentPage({
    mode,
    client_name,
    redirect,
    resource_names: resourceNames(runtime.settings, grant),
    email,
    csrf,
    requested: request.missing,
    already_granted: new Set(),
    cards: await findCardChoices(runtime.db, id, grant.card_ids),
    requested_card_ids: grant.card_ids,
    isStepUp: true,
    budget:
      error_message === undefined
        ? budgetTexts(await budgetOf(context, grant))
        : enteredTexts(form),
    ...(error_message !== undefined && {
      error: consentError(error_message, form),
    }),
  })
  return sendPage(reply, error_message === undefined ? 200 : 400, text, consent_headers)
}

/** Tokens for both resources get the scope at both. */
function resourceNames(settings: Settings, { payload }: StepUp['grant']): string[] {
  const isForBoth = resourceUrl(settings, 'both') in payload.resources
  return isForBoth ? ['the agent tools', 'the API'] : ['the agent tools']
}

async function budgetOf(
  { runtime: { db } }: InteractionContext,
  { id, account_id }: StepUp['grant'],
): Promise<Budget | null> {
  const budgets = await findBudgets(db, account_id)
  return budgets.find(({ grant_id }) => grant_id === id) ?? null
}

export async function submitStepUp(
  context: InteractionContext,
  step_up: StepUp,
  decision: 'allow' | 'deny',
): Promise<FastifyReply> {
  const { runtime, form } = context
  const { request, grant } = step_up
  if (signedInAccount(context) !== grant.account_id) return showStepUp(context, step_up)
  const checked = new Set(form.getAll('scope'))
  const granted = request.missing.filter((scope) => checked.has(scope))
  const consent_context = consentContextOf(context, grant)
  if (decision === 'deny' || granted.length === 0) {
    await recordRefusal(runtime.db, consent_context)
    return close(context, null)
  }
  const entered = enteredBudget(form)
  if ('problem' in entered) return showStepUp(context, step_up, entered.problem)
  const { budget } = entered
  const { account_id } = grant
  const signed_in_at = await signedInAt(context)
  const { email } = await findAccount(runtime.db, account_id)
  const confirmation = await confirmSignIn(context, { account_id, email, granted, signed_in_at })
  if (confirmation !== null) return confirmation
  const step_up_decision = { request, granted, budget, signed_in_at }
  if (!(await recordStepUp(runtime, consent_context, step_up_decision))) {
    throw new errors.SessionNotFound('the sign-in or the access of the app has ended')
  }
  return close(context, granted)
}

type GrantedScopes = StepUp['request']['missing']

/** No code is issued: the app uses the token that it has. */
async function close(
  { runtime, interaction, client_name, reply }: InteractionContext,
  granted: GrantedScopes | null,
): Promise<FastifyReply> {
  await interaction.destroy()
  const { mode } = runtime.settings
  return sendPage(
    reply,
    200,
    closedStepUpPage(mode, granted === null ? null : { client_name, granted }),
  )
}
