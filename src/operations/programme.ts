import { ACTIVITY_CHANNEL } from '#domain/activity/activity_store.ts'
import { type Bell, makeBell } from '#domain/activity/bell.ts'
import type { Caller, Seams } from '#domain/context/context.ts'
import { CREDENTIALS_CHANNEL } from '#domain/credentials/credential_store.ts'
import { type Credentials, makeCredentials } from '#domain/credentials/credentials.ts'
import { type KeyUses, makeKeyUses } from '#domain/credentials/key_use.ts'
import { makeTill } from '#domain/paid_calls/make_till.ts'
import type { Till } from '#domain/paid_calls/till.ts'
import { memoryRateLimiter, type RateLimiter, unlimitedRate } from '#domain/risk/rate_limit.ts'
import { redisRateLimiter } from '#domain/risk/redis_rate_limit.ts'
import type { AccountDatabase, AccountPool } from '#platform/postgres/db.ts'
import { type ByteBudget, makeByteBudget } from '#platform/runtime/byte_budget.ts'

/** What a call is run with: the seams, and what this node remembers between calls. */
export type Programme = Seams & {
  /** The database as this caller may see it: one account; all of it where nobody is signed in. */
  databaseOf(caller: Caller | null): AccountDatabase
  credentials: Credentials
  limiter: RateLimiter
  key_uses: KeyUses
  bell: Bell
  /** What the bodies of all requests may hold of this node's memory. */
  body_bytes: ByteBudget
  /** Where calls are paid for; null where none has a price. */
  till: Till | null
  close(): Promise<void>
}

export async function makeProgramme(seams: Seams, account_pool: AccountPool): Promise<Programme> {
  const credentials = makeCredentials(seams)
  const limiter = await limiterFor(seams)
  const key_uses = makeKeyUses(seams)
  const till = await makeTill(seams)
  const bell = makeBell()
  const stopListening = await seams.db.listen(CREDENTIALS_CHANNEL, (account_id) => {
    credentials.forget(account_id)
    // Whoever follows the account asks again whether it still may.
    bell.ring(account_id)
  })
  const stopHearing = await seams.db.listen(ACTIVITY_CHANNEL, bell.ring)
  return {
    ...seams,
    databaseOf: databaseFinder(seams, account_pool),
    credentials,
    limiter,
    key_uses,
    bell,
    body_bytes: makeByteBudget(),
    till,
    close: async () => {
      // A database that is gone must not keep the rest from stopping.
      await key_uses.flush().catch((cause) => seams.log.error('key uses were lost', {}, cause))
      await stopListening()
      await stopHearing()
      await limiter.close()
    },
  }
}

/** Beyond it all are forgotten: that only keeps reads under way from sharing a statement. */
const KNOWN_ACCOUNTS_MAX = 10_000

/** One object for each account: its reads share statements (platform/postgres/shared_reads.ts). */
function databaseFinder({ db }: Seams, account_pool: AccountPool): Programme['databaseOf'] {
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

function limiterFor(seams: Seams): RateLimiter | Promise<RateLimiter> {
  const { settings, clock } = seams
  if (settings.rate_profile === 'off') return unlimitedRate
  if (settings.redis_url !== null) return redisRateLimiter(settings.redis_url.open(), seams)
  return memoryRateLimiter(clock.monotonic)
}
