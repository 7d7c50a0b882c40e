import { type ActivityNotifier, makeActivityNotifier } from '#domain/activity/activity_notifier.ts'
import { ACTIVITY_CHANNEL } from '#domain/activity/activity_store.ts'
import type { Caller, Dependencies } from '#domain/context/context.ts'
import { CREDENTIALS_CHANNEL } from '#domain/credentials/credential_store.ts'
import { type Credentials, makeCredentials } from '#domain/credentials/credentials.ts'
import { type KeyUses, makeKeyUses } from '#domain/credentials/key_use.ts'
import { makePaymentContext } from '#domain/paid_calls/make_payment_context.ts'
import type { PaymentContext } from '#domain/paid_calls/payment_context.ts'
import { memoryRateLimiter, type RateLimiter, unlimitedRate } from '#domain/risk/rate_limit.ts'
import { redisRateLimiter } from '#domain/risk/redis_rate_limit.ts'
import type { AccountDatabase, AccountPool } from '#platform/postgres/db.ts'
import { type ByteBudget, makeByteBudget } from '#platform/runtime/byte_budget.ts'
import { localOpenCounts, type OpenCounts } from '#platform/runtime/open_counts.ts'

/** The dependencies of a call and the state this node keeps between calls. */
export type Runtime = Dependencies & {
  /** Shows only the caller's account; without a caller, every account. */
  databaseOf(caller: Caller | null): AccountDatabase
  credentials: Credentials
  limiter: RateLimiter
  /** The activity streams that are open, by account and credential. */
  open_streams: OpenCounts
  key_uses: KeyUses
  activity_notifier: ActivityNotifier
  /** Limits the memory that request bodies may hold on this node. */
  body_bytes: ByteBudget
  /** The Idempotency-Keys of calls that are being prepared. */
  taken_keys: Set<string>
  /** Null if no call has a price. */
  payment_context: PaymentContext | null
  /** Null if all accounts are in one database. */
  cells: Cells | null
  close(): Promise<void>
}

/** The cells that this node serves. Every runtime of a node has the same ones. */
export type Cells = {
  /** Cell 0: the directory, operators and OAuth clients. */
  home: Runtime
  /** Refuses with 503 while one of them has not started. */
  all: readonly Runtime[]
  started: readonly Runtime[]
  /** Undefined if the settings name no such cell. Throws if it is down or served elsewhere. */
  at(number: number): Runtime | undefined
  /** Returns false if a cell does not respond; it takes them over before it is used again. */
  takeOverKillSwitches(): Promise<boolean>
  /** The cell of an account with this email, or cell 0. */
  ofEmail(email: string): Promise<number>
  /** The cell in which an account with this email is created, for a call from this address. */
  claimForNewAccount(email: string, ip: string): Promise<number>
}

/** The limits that the processes of one machine share. */
export type SharedLimits = { limiter: RateLimiter; open_streams: OpenCounts }

type RuntimeParts = {
  /** The runtime of cell 0, if this is another cell: a node has one limit for all its cells. */
  home: Runtime | null
  /** Null if this process is the only one. */
  shared_limits: SharedLimits | null
}

export async function makeRuntime(
  dependencies: Dependencies,
  account_pool: AccountPool,
  { home, shared_limits }: RuntimeParts,
): Promise<Runtime> {
  const credentials = makeCredentials(dependencies)
  const limiter = home?.limiter ?? (await limiterFor(dependencies, shared_limits))
  const key_uses = makeKeyUses(dependencies)
  const payment_context = await makePaymentContext(dependencies)
  const activity_notifier = makeActivityNotifier()
  const stopListening = await dependencies.db.listen(CREDENTIALS_CHANNEL, (account_id) => {
    credentials.forget(account_id)
    // Open streams of the account check again whether their credential is still valid.
    activity_notifier.notify(account_id)
  })
  const stopActivity = await dependencies.db.listen(ACTIVITY_CHANNEL, activity_notifier.notify)
  return {
    ...dependencies,
    databaseOf: databaseFinder(dependencies, account_pool),
    credentials,
    limiter,
    open_streams: home?.open_streams ?? shared_limits?.open_streams ?? localOpenCounts(),
    key_uses,
    activity_notifier,
    body_bytes: home?.body_bytes ?? makeByteBudget(),
    taken_keys: new Set(),
    payment_context,
    cells: null,
    close: async () => {
      // A database that is gone must not keep the rest from stopping.
      await key_uses
        .flush()
        .catch((cause) => dependencies.log.error('key uses were lost', {}, cause))
      await stopListening()
      await stopActivity()
      if (home === null) await limiter.close()
    },
  }
}

/** Above this the map is cleared; concurrent reads of one account then miss a shared statement. */
const KNOWN_ACCOUNTS_MAX = 10_000

/** One object for each account: its reads share statements (platform/postgres/shared_reads.ts). */
function databaseFinder({ db }: Dependencies, account_pool: AccountPool): Runtime['databaseOf'] {
  const known = new Map<string, AccountDatabase>()
  return (caller) => {
    if (caller === null) return db
    let found = known.get(caller.account_id)
    if (found === undefined) {
      if (known.size >= KNOWN_ACCOUNTS_MAX) known.clear()
      found = account_pool.of(caller.account_id)
      known.set(caller.account_id, found)
    }
    return found
  }
}

function limiterFor(
  dependencies: Dependencies,
  shared: SharedLimits | null,
): RateLimiter | Promise<RateLimiter> {
  const { settings, clock } = dependencies
  if (settings.rate_profile === 'off') return unlimitedRate
  const local = shared?.limiter ?? memoryRateLimiter(clock.monotonic)
  if (settings.redis_url === null) return local
  return redisRateLimiter(settings.redis_url.open(), local, dependencies)
}
