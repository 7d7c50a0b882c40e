import type { EventType } from '#contract/events.ts'
import type { InputOfName, OperationName, OutputOfName, operations } from '#contract/operations.ts'
import type { Scope } from '#contract/scopes.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Micros } from '#kernel/money.ts'
import type { HttpClient } from '#platform/http_client/http_client.ts'
import type { AccountDatabase, Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Probes } from '#platform/runtime/health.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Blobs } from '#platform/storage/blobs.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { AddressScreener } from '#rails/screening/screening.ts'
import type { RateProfileName } from '#settings/rate_settings.ts'
import type { Settings } from '#settings/settings.ts'

/** The seams that the service is built on; `main` makes them, tests and simulations differ. */
export type Dependencies = {
  settings: Settings
  db: Database
  clock: Clock
  random: Random
  newId(prefix: IdPrefix, at: Date): string
  keys: Keys
  http: HttpClient
  probes: Probes
  screener: AddressScreener
  blobs: Blobs
  log: Log
  metrics: Metrics
  fail: Fail
}

/** Who calls, once the bearer is known. The account comes from here and from nowhere else. */
export type Caller = {
  kind: 'session' | 'api_key' | 'oauth_client'
  /** The credential: its session, key or client. */
  id: string
  name: string | null
  account_id: string
  /** All of them for a session or a key; what was granted for a token. */
  scopes: ReadonlySet<Scope>
  /** The only cards a token may see; null where there is no such restriction. */
  card_ids: readonly string[] | null
  rate_profile: RateProfileName | null
  /** Of a token: the grant it was made under. */
  grant_id?: string
}

/** What is known of the request that carries a call, whatever door it came through. */
export type RequestContext = {
  id: string
  ip: string
  user_agent: string
  idempotency_key: string | null
  header(name: string): string | null
  /** The file that was streamed in with it. */
  upload?: StoredFile
}

/** A file whose bytes are stored, and whose record is still to be written. */
export type StoredFile = { id: string; content_type: string; size_bytes: number; sha256: string }

export type Resource = { type: string; id: string }

/** Something that happened, for webhooks and the activity stream. */
export type NewEvent = {
  type: EventType | ActivityOnly
  message: string
  resource: Resource
  /** The resource as its GET shows it; null for what is activity only. */
  object: object | null
  severity?: 'info' | 'warning' | 'error'
  card_id?: string | null
  amount_micros?: Micros | null
  previous_attributes?: object
}

/** Shown in the activity stream, but nothing that a webhook can subscribe to. */
export type ActivityOnly =
  | `card.${'unfrozen' | 'unloaded' | 'limits_updated' | 'mcc_updated' | 'geo_updated'}`
  | 'webhook.disabled'
  | 'balance.debt_incurred'
  | `withdrawal.${'completed' | 'failed'}`
  | `dispute.${'answered' | 'evidence_due' | 'credit_reduced'}`
  | `transaction.${'reversed' | 'expired' | 'refund_reversed'}`

/** What the owner of an account is told by e-mail whatever the settings: somebody may be at it. */
export type SecurityAlert = {
  kind:
    | 'new_sign_in'
    | 'api_key_created'
    | 'password_changed'
    | 'email_changed'
    | 'two_factor_on'
    | 'two_factor_off'
    | 'grant_created'
    | 'webhook_created'
    | 'webhook_moved'
    | 'notifications_off'
  /** What exactly, in a few words; never a secret. */
  detail?: string
  /** Where it goes when it must not go to the account's present address. */
  recipient?: string
}

export type NewAuditEntry = {
  action: string
  result?: 'success' | 'denied' | 'failure'
  resource?: Resource | null
  /** For a call without a bearer: the session that it opened. */
  actor_id?: string
}

/**
 * What an operation leaves behind besides its rows. It is collected while the handler runs and
 * written last, so that the account's head is locked after everything else and only briefly.
 */
export type Trail = {
  emit(account_id: string, event: NewEvent): void
  /** Takes the place of the entry that would carry the operation's own name. */
  audit(account_id: string, entry: NewAuditEntry): void
  /** An e-mail to the owner, written with the change itself. */
  alert(account_id: string, alert: SecurityAlert): void
}

/** What the caller's rate limits are and what is left of them, this call included. */
export type RateStatus = {
  burst_per_second: number
  sustained_per_minute: number
  remaining: number
  reset_ms: number
}

type Common = Pick<
  Dependencies,
  'settings' | 'clock' | 'random' | 'keys' | 'probes' | 'http' | 'screener' | 'blobs'
> & {
  request: RequestContext
  rate: RateStatus
  /** The moment of this call; everything it makes is made then. */
  now: Date
  newId(prefix: IdPrefix, at?: Date): string
}

/** Before the transaction: for slow work such as password hashing. */
export type PreparingContext<Who = Caller> = Common & {
  db: AccountDatabase
  caller: Who
  /** A refusal, written at once: the operation that it belongs to will not commit. */
  auditRefusal(account_id: string, entry: NewAuditEntry): Promise<void>
  /**
   * An entry in a transaction of the preparation's own, for what must be committed before it is
   * done; answers with its id. Locks the account's head.
   */
  auditIn(tx: Tx, account_id: string, entry: NewAuditEntry): Promise<string>
}

export type Context<Who = Caller> = Common &
  Trail & {
    tx: Tx
    caller: Who
    /** Every node must forget what it remembers of this account's bearers: told at commit. */
    credentialsChanged(account_id: string): void
  }

type WhoOf<Name extends OperationName> = (typeof operations)[Name]['access'] extends 'anyone'
  ? null
  : Caller

type Run<Name extends OperationName> = (
  context: Context<WhoOf<Name>>,
  input: InputOfName<Name>,
) => Promise<OutputOfName<Name>>

type Prepare<Name extends OperationName> = (
  context: PreparingContext<WhoOf<Name>>,
  input: InputOfName<Name>,
) => Promise<Run<Name>>

/** Given the answer as it was stored, the answer to a repeat under the same Idempotency-Key. */
type Replay<Name extends OperationName> = (
  context: Context<WhoOf<Name>>,
  stored: OutputOfName<Name>,
  input: InputOfName<Name>,
) => Promise<OutputOfName<Name>>

/**
 * A handler is its run; or a preparation outside the transaction that answers with its run. A read
 * that uses something up writes that in its preparation.
 */
export type Handler<Name extends OperationName> =
  | Run<Name>
  | { prepare: Prepare<Name>; replay?: Replay<Name> }
