import type { FastifyInstance } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { Micros } from '#kernel/money.ts'
import type { Secret } from '#kernel/secret.ts'
import type { Caller, Dependencies } from './context.ts'

/**
 * The part of the service that the sandbox may use directly: bearers, the clock, and calls through
 * the same pipeline as all others. Everything else goes over the service's own protocols.
 */
export type SandboxHost = {
  settings: Dependencies['settings']
  clock: Dependencies['clock']
  random: Dependencies['random']
  log: Dependencies['log']
  callerOf(authorization: string | undefined): Promise<Caller>
  call(operation: OperationName, input: object, bearer?: string): Promise<CallResponse>
  /** Moves the clock of every node and runs all tasks. */
  advanceClock(seconds: number): Promise<Date>
  /** Emails to this account, newest first. */
  inboxOf(account_id: string): Promise<InboxMail[]>
  /** Runs background tasks now and waits for them. */
  runTasks(names: readonly string[]): Promise<void>
  /** Expires a pending top-up. */
  expireTopup(account_id: string, id: string): Promise<void>
  /** Port of the card host. */
  card_host_port: number
  /** The details printed on a card, as its holder enters them in a shop. */
  cardNumberOf(account_id: string, card_id: string): Promise<PrintedCard>
  /** Expires an authorization. */
  expireAuthorization(account_id: string, id: string): Promise<void>
  /** Opens a 3-D Secure challenge like an access control server. Returns its ID. */
  openChallenge(account_id: string, payment: ChallengePayment): Promise<string>
  challengeStatus(account_id: string, id: string): Promise<string | null>
}

export type ChallengePayment = {
  card_id: string
  amount_minor: bigint
  currency: string
  amount_micros: Micros
  merchant_name: string
  merchant_id: string | null
  mcc: string
  merchant_country: string | null
}

export type PrintedCard = { pan: Secret; cvv: Secret; exp_month: number; exp_year: number }

export type InboxMail = {
  id: string
  kind: string
  to: string
  subject: string
  text: string
  html: string
  state: 'due' | 'sent' | 'given_up'
  created_at: string
  sent_at: string | null
}

export type CallResponse = { status: number; body: Record<string, unknown> }

/** Routes mounted beside the service's own, such as the sandbox controls. */
export type Surface = (app: FastifyInstance, host: SandboxHost) => void

/** A request that a worker passes on to its parent, with the IP address of the connection. */
export type ForwardedRequest = {
  method: string
  url: string
  headers: Readonly<Record<string, string | string[]>>
  body: Uint8Array | null
  ip: string
}

export type ForwardedResponse = {
  status: number
  headers: Readonly<Record<string, string | string[]>>
  body: Uint8Array
}
