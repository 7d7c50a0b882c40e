import { randomBytes } from 'node:crypto'
import { rawCall } from '#cli/calls/raw_call.ts'
import { UsageError } from '#cli/exit_codes.ts'
import { type Connection, clientFor } from '#cli/profiles/connection.ts'
import { createClient } from '#client/client.ts'
import type { EventType } from '#contract/events.ts'

/** The account to create or sign in, and the output for each step. */
export type TriggerOptions = { email?: string; password?: string; print(line: string): void }

export type TriggerContext = TriggerOptions & {
  connection: Connection
  /** Calls the sandbox API and returns the resource it changed. */
  callSandbox(path: string, body?: object): Promise<{ id: string; status: string }>
}

type Trigger = (context: TriggerContext) => Promise<unknown>

/** The actions that cause each event. */
export const triggers: Readonly<Record<EventType, Trigger>> = {
  'account.created': (context) => createAccount(context),
  'account.signed_in': (context) => signIn(context),
  'topup.created': (context) => createTopup(context),
  'topup.confirmed': (context) => fund(context, 25),
  'topup.expired': async (context) =>
    context.callSandbox(`topups/${await createTopup(context)}/expire`),
  // Below the minimum deposit.
  'topup.error': (context) => fund(context, 0.5),
  'card.issued': (context) => createCard(context),
  'card.loaded': (context) => createLoadedCard(context),
  'card.frozen': async (context) => florin(context).freeze_card({ id: await createCard(context) }),
  'card.cancelled': async (context) =>
    florin(context).cancel_card({ id: await createCard(context) }),
  'transaction.authorized': (context) => createAuthorization(context),
  'transaction.captured': (context) => createCapture(context),
  'transaction.refunded': async (context) =>
    context.callSandbox(`transactions/${await createCapture(context)}/refund`),
  // The card has no balance.
  'transaction.declined': async (context) =>
    context.callSandbox(`cards/${await createCard(context)}/authorize`, purchase),
  'dispute.opened': (context) => createDispute(context),
  'dispute.resolved': async (context) =>
    context.callSandbox(`disputes/${await createDispute(context)}/close`, { outcome: 'won' }),
  'withdrawal.broadcasted': (context) => createWithdrawal(context),
  'system.maintenance': (context) => announceMaintenance(context),
}

const purchase = { amount: 12.5, merchant_name: 'Corner Books', mcc: '5942' }
const PASSWORD_BYTES = 12
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const florin = ({ connection }: TriggerContext) => clientFor(connection)

/** Only the new account's own webhooks receive its events. */
async function createAccount({ connection, print, ...given }: TriggerContext) {
  const email = given.email ?? `trigger-${randomBytes(4).toString('hex')}@example.com`
  const password = given.password ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  const { id } = await createClient({ url: connection.url }).create_account({ email, password })
  print(`  create_account: ${id} for ${email}`)
  return { email, password }
}

async function signIn(context: TriggerContext): Promise<void> {
  const { email, password } = context
  const hasAccount = email !== undefined && password !== undefined
  const account = hasAccount ? { email, password } : await createAccount(context)
  const { session_id } = await createClient({ url: context.connection.url }).sign_in(account)
  context.print(`  sign_in: ${session_id}`)
}

async function createTopup(context: TriggerContext): Promise<string> {
  const { id } = await florin(context).create_topup({ amount_usd: 25 })
  context.print(`  create_topup: ${id}`)
  return id
}

async function fund(context: TriggerContext, amount_usd: number): Promise<void> {
  const id = await createTopup(context)
  await context.callSandbox(`topups/${id}/deposit`, { amount_usd })
  await context.callSandbox(`topups/${id}/confirm`)
}

async function createCard(
  context: TriggerContext,
  load: { load_usd?: number } = {},
): Promise<string> {
  const { id } = await florin(context).issue_card({ type: 'virtual', ...load })
  context.print(`  issue_card: ${id}`)
  return id
}

async function createLoadedCard(context: TriggerContext): Promise<string> {
  await fund(context, 25)
  return createCard(context, { load_usd: 25 })
}

async function createAuthorization(context: TriggerContext): Promise<string> {
  const { id } = await context.callSandbox(
    `cards/${await createLoadedCard(context)}/authorize`,
    purchase,
  )
  return id
}

async function createCapture(context: TriggerContext): Promise<string> {
  const { id } = await context.callSandbox(
    `transactions/${await createAuthorization(context)}/capture`,
  )
  return id
}

async function createDispute(context: TriggerContext): Promise<string> {
  const { id } = await florin(context).file_dispute({
    transaction_id: await createCapture(context),
    reason: 'not_received',
    explanation: 'Created by florin trigger.',
  })
  context.print(`  file_dispute: ${id}`)
  return id
}

async function createWithdrawal(context: TriggerContext): Promise<void> {
  await fund(context, 25)
  const { id } = await florin(context).withdraw({
    amount_usd: 20,
    address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  })
  context.print(`  withdraw: ${id}`)
  await context.callSandbox(`withdrawals/${id}/confirm`)
}

/** Only an operator can announce maintenance. */
async function announceMaintenance({ connection, print }: TriggerContext): Promise<void> {
  const bearer = process.env['FLORIN_OPERATOR_TOKEN']
  if (!bearer)
    throw new UsageError('Set FLORIN_OPERATOR_TOKEN: only an operator can announce maintenance.')
  const operator = { ...connection, bearer }
  // The clock of the sandbox may have been moved forward.
  const health = await rawCall<{ checked_at: string }>(operator, 'GET /operator/v1/health')
  const start_ms = Date.parse(health.checked_at) + DAY_MS
  const starts_at = new Date(start_ms).toISOString()
  const ends_at = new Date(start_ms + HOUR_MS).toISOString()
  const message = 'Test announcement by florin trigger. No maintenance is planned.'
  await rawCall(operator, 'POST /operator/v1/maintenance', {
    starts_at,
    ends_at,
    message,
  })
  print(`  maintenance announced for ${starts_at}`)
}
