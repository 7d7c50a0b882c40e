import { randomBytes } from 'node:crypto'
import { rawCall } from '#cli/calls/raw_call.ts'
import { UsageError } from '#cli/exit_codes.ts'
import { type Connection, clientFor } from '#cli/profiles/connection.ts'
import { createClient } from '#client/client.ts'
import type { EventType } from '#contract/events.ts'

/** Whose account is to sign in, and where the steps are told. */
export type Telling = { email?: string; password?: string; say(line: string): void }

export type Stage = Telling & {
  connection: Connection
  /** A lever of the sandbox; it answers the thing that was moved. */
  play(path: string, body?: object): Promise<{ id: string; status: string }>
}

type Trigger = (stage: Stage) => Promise<unknown>

/** What has to happen for each event to be told. */
export const triggers: Readonly<Record<EventType, Trigger>> = {
  'account.created': (stage) => newAccount(stage),
  'account.signed_in': (stage) => signIn(stage),
  'topup.created': (stage) => newTopup(stage),
  'topup.confirmed': (stage) => fund(stage, 25),
  'topup.expired': async (stage) => stage.play(`topups/${await newTopup(stage)}/expire`),
  // Less than the smallest deposit cannot be settled.
  'topup.error': (stage) => fund(stage, 0.5),
  'card.issued': (stage) => newCard(stage),
  'card.loaded': (stage) => loadedCard(stage),
  'card.frozen': async (stage) => florin(stage).freeze_card({ id: await newCard(stage) }),
  'card.cancelled': async (stage) => florin(stage).cancel_card({ id: await newCard(stage) }),
  'transaction.authorized': (stage) => authorized(stage),
  'transaction.captured': (stage) => captured(stage),
  'transaction.refunded': async (stage) =>
    stage.play(`transactions/${await captured(stage)}/refund`),
  // An empty card pays nothing.
  'transaction.declined': async (stage) =>
    stage.play(`cards/${await newCard(stage)}/authorize`, purchase),
  'dispute.opened': (stage) => newDispute(stage),
  'dispute.resolved': async (stage) =>
    stage.play(`disputes/${await newDispute(stage)}/close`, { outcome: 'won' }),
  'withdrawal.broadcasted': (stage) => withdrawn(stage),
  'system.maintenance': (stage) => announced(stage),
}

const purchase = { amount: 12.5, merchant_name: 'Corner Books', mcc: '5942' }
const PASSWORD_BYTES = 12
const DAY_MS = 24 * 3_600_000

const florin = ({ connection }: Stage) => clientFor(connection)

/** Events of an account are its own: only its webhooks hear of them. */
async function newAccount({ connection, say, ...given }: Stage) {
  const email = given.email ?? `trigger-${randomBytes(4).toString('hex')}@example.com`
  const password = given.password ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  const { id } = await createClient({ url: connection.url }).create_account({ email, password })
  say(`  create_account: ${id} for ${email}`)
  return { email, password }
}

async function signIn(stage: Stage): Promise<void> {
  const { email, password } = stage
  const isGiven = email !== undefined && password !== undefined
  const who = isGiven ? { email, password } : await newAccount(stage)
  const { session_id } = await createClient({ url: stage.connection.url }).sign_in(who)
  stage.say(`  sign_in: ${session_id}`)
}

async function newTopup(stage: Stage): Promise<string> {
  const { id } = await florin(stage).create_topup({ amount_usd: 25 })
  stage.say(`  create_topup: ${id}`)
  return id
}

async function fund(stage: Stage, amount_usd: number): Promise<void> {
  const id = await newTopup(stage)
  await stage.play(`topups/${id}/deposit`, { amount_usd })
  await stage.play(`topups/${id}/confirm`)
}

async function newCard(stage: Stage, load: { load_usd?: number } = {}): Promise<string> {
  const { id } = await florin(stage).issue_card({ type: 'virtual', ...load })
  stage.say(`  issue_card: ${id}`)
  return id
}

async function loadedCard(stage: Stage): Promise<string> {
  await fund(stage, 25)
  return newCard(stage, { load_usd: 25 })
}

async function authorized(stage: Stage): Promise<string> {
  const { id } = await stage.play(`cards/${await loadedCard(stage)}/authorize`, purchase)
  return id
}

async function captured(stage: Stage): Promise<string> {
  const { id } = await stage.play(`transactions/${await authorized(stage)}/capture`)
  return id
}

async function newDispute(stage: Stage): Promise<string> {
  const { id } = await florin(stage).file_dispute({
    transaction_id: await captured(stage),
    reason: 'not_received',
    explanation: 'Made by florin trigger.',
  })
  stage.say(`  file_dispute: ${id}`)
  return id
}

async function withdrawn(stage: Stage): Promise<void> {
  await fund(stage, 25)
  const { id } = await florin(stage).withdraw({
    amount_usd: 20,
    address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  })
  stage.say(`  withdraw: ${id}`)
  await stage.play(`withdrawals/${id}/confirm`)
}

/** Only the operator can announce something, to everybody. */
async function announced({ connection, say }: Stage): Promise<void> {
  const bearer = process.env['FLORIN_OPERATOR_TOKEN']
  if (!bearer) throw new UsageError('Set FLORIN_OPERATOR_TOKEN: the operator announces this.')
  const starts_at = new Date(Date.now() + DAY_MS).toISOString()
  const ends_at = new Date(Date.now() + DAY_MS + 3_600_000).toISOString()
  const message = 'Made by florin trigger: nothing will happen.'
  await rawCall({ ...connection, bearer }, 'POST /operator/v1/maintenance', {
    starts_at,
    ends_at,
    message,
  })
  say(`  maintenance announced from ${starts_at}`)
}
