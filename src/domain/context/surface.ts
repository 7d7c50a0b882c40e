import type { FastifyInstance } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { Micros } from '#kernel/money.ts'
import type { Secret } from '#kernel/secret.ts'
import type { Caller, Dependencies } from './context.ts'

/**
 * What a world around the service may touch: the same bearers, the clock, and calls that go
 * through the same pipeline as everybody's. Anything else it does over the service's own protocols.
 */
export type SandboxHost = Pick<Dependencies, 'settings' | 'clock' | 'random' | 'log'> & {
  callerOf(authorization: string | undefined): Promise<Caller>
  call(operation: OperationName, input: object, bearer?: string): Promise<CallAnswer>
  /** Moves every clock of the service, on every node, and lets tasks see it at once. */
  advanceClock(seconds: number): Promise<Date>
  /** The e-mails written to this account, newest first. */
  inboxOf(account_id: string): Promise<InboxMail[]>
  /** Lets some background tasks look now, and waits for them. */
  runTasks(names: readonly string[]): Promise<void>
  /** Closes the window of one awaited top-up, as if its time had passed. */
  expireTopup(account_id: string, id: string): Promise<void>
  /** Where card networks dial in. */
  card_host_port: number
  /** What is printed on a card of the sandbox, as its holder would type it in at a shop. */
  cardNumberOf(account_id: string, card_id: string): Promise<PrintedCard>
  /** Gives an authorization up, as if its time had passed. */
  expireAuthorization(account_id: string, id: string): Promise<void>
  /** Asks the holder about a payment online, as an access control server would; answers its id. */
  openChallenge(account_id: string, asked: ChallengeAsked): Promise<string>
  challengeStatus(account_id: string, id: string): Promise<string | null>
}

export type ChallengeAsked = {
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

export type CallAnswer = { status: number; body: Record<string, unknown> }

/** Routes that are mounted beside the service's own, such as the sandbox's controls. */
export type Surface = (app: FastifyInstance, world: SandboxHost) => void
