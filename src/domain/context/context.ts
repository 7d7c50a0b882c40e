import type { ActivityOnly, EventType, NamedEventType } from '#contract/events.ts'
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

/** The dependencies of the service. `main` makes them; tests and simulations replace some. */
export type Dependencies = {
  settings: Settings
  db: Database
  clock: Clock
  random: Random
  newId(prefix: IdPrefix, at: Date): string
  /** Claims an email in all cells. Returns false if an account of another cell has it. */
  claimEmail(email: string): Promise<boolean>
  /**
   * Asked after an account got an email, before the commit: false if another cell has taken over
   * the claim since.
   */
  isEmailClaimed(email: string): Promise<boolean>
  /** The databases of all cells, for work that cell 0 does for all; none in another cell. */
  cellDatabases(): readonly Tx[]
  keys: Keys
  http: HttpClient
  probes: Probes
  screener: AddressScreener
  blobs: Blobs
  log: Log
  metrics: Metrics
  fail: Fail
}

/** The authenticated caller. The account of a call always comes from here. */
export type Caller = {
  kind: 'session' | 'api_key' | 'oauth_client'
  /** ID of the session, API key or OAuth client. */
  id: string
  name: string | null
  account_id: string
  /** Every scope for sessions and API keys; the granted ones for tokens. */
  scopes: ReadonlySet<Scope>
  /** Cards a token is restricted to. Null: all cards. */
  card_ids: readonly string[] | null
  rate_profile: RateProfileName | null
  /** The grant of a token. */
  grant_id?: string
}

/** The request of a call, the same for every door. */
export type RequestContext = {
  id: string
  ip: string
  user_agent: string
  idempotency_key: string | null
  header(name: string): string | null
  /** A file sent with the request. */
  upload?: StoredFile
}

/** A file whose bytes are stored but not yet recorded. */
export type StoredFile = { id: string; content_type: string; size_bytes: number; sha256: string }

export type Resource = { type: string; id: string }

/** An event for webhooks and the activity stream. */
export type NewEvent = {
  type: EventType | NamedEventType | ActivityOnly
  message: string
  resource: Resource
  /** The resource as its GET shows it. Null for activity-only events. */
  object: object | null
  severity?: 'info' | 'warning' | 'error'
  card_id?: string | null
  amount_micros?: Micros | null
  previous_attributes?: object
}

/** A security email to the owner, sent whatever the notification settings are. */
export type SecurityAlert = {
  kind:
    | 'new_sign_in'
    | 'api_key_created'
    | 'password_changed'
    | 'password_reset'
    | 'email_changed'
    | 'two_factor_on'
    | 'two_factor_off'
    | 'grant_created'
    | 'card_revealed'
    | 'webhook_created'
    | 'webhook_moved'
    | 'notifications_off'
  /** Details in a few words; never a secret. */
  detail?: string
  /** The recipient, if it is not the account's current email. */
  recipient?: string
}

export type NewAuditEntry = {
  action: string
  result?: 'success' | 'denied' | 'failure'
  resource?: Resource | null
  /** The session that a call without a bearer opened. */
  actor_id?: string
}

/**
 * Events, audit entries and alerts of an operation. They are collected while the handler runs and
 * written last, so the account's sequence row is locked after everything else and only briefly.
 */
export type Trail = {
  emit(account_id: string, event: NewEvent): void
  /** Replaces the default entry, whose action is the operation's name. */
  audit(account_id: string, entry: NewAuditEntry): void
  /** An email to the owner, stored in the transaction of the change. */
  alert(account_id: string, alert: SecurityAlert): void
}

/** The caller's rate limits and what is left of them after this call. */
export type RateStatus = {
  burst_per_second: number
  sustained_per_minute: number
  remaining: number
  reset_ms: number
}

type CallContext = {
  settings: Settings
  clock: Clock
  random: Random
  keys: Keys
  probes: Probes
  http: Dependencies['http']
  screener: AddressScreener
  blobs: Blobs
  request: RequestContext
  rate: RateStatus
  /** The time of this call; everything it creates has this timestamp. */
  now: Date
  newId(prefix: IdPrefix, at?: Date): string
  claimEmail: Dependencies['claimEmail']
  isEmailClaimed: Dependencies['isEmailClaimed']
  cellDatabases: Dependencies['cellDatabases']
}

/** Before the transaction: for slow work such as password hashing. */
export type PreparingContext<Who = Caller> = CallContext & {
  db: AccountDatabase
  caller: Who
  /** Writes a refusal immediately, because the operation will not commit. */
  auditRefusal(account_id: string, entry: NewAuditEntry): Promise<void>
  /**
   * Writes an entry in the preparation's own transaction, before the effect is committed. Returns
   * its ID, and locks the account's sequence row.
   */
  auditIn(tx: Tx, account_id: string, entry: NewAuditEntry): Promise<string>
}

export type Context<Who = Caller> = CallContext &
  Trail & {
    tx: Tx
    caller: Who
    /** Makes every node drop the account's cached credentials at commit. */
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

/** Makes the response to a repeat under the same Idempotency-Key from the stored one. */
type Replay<Name extends OperationName> = (
  context: Context<WhoOf<Name>>,
  stored: OutputOfName<Name>,
  input: InputOfName<Name>,
) => Promise<OutputOfName<Name>>

/**
 * A handler is its run, or a preparation outside the transaction that returns its run. A read that
 * uses something up writes that in its preparation.
 */
export type Handler<Name extends OperationName> =
  | Run<Name>
  | { prepare: Prepare<Name>; replay?: Replay<Name> }
