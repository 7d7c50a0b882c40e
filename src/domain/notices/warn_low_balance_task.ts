import { purseSql } from '#domain/ledger/balances.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { insertNotices } from './notice_store.ts'
import { renderEmail } from './templates/layout.ts'
import { lowBalanceEmail } from './templates/low_balance_email.ts'

type LowBalance = {
  account_id: string
  email: string
  threshold_usd: number
  balance_micros: Micros
}

/** A run looks at this many accounts, and the next one goes on behind them: its cost is bounded. */
const ACCOUNTS_MAX = 5_000

/**
 * Emails owners whose balance fell below their threshold, so no other module has to check it. An
 * owner gets one email, and another only after the balance has been above the threshold again.
 */
export function warnLowBalanceTask({
  db,
  clock,
  settings,
}: {
  db: Database
  clock: Clock
  settings: Settings
}): Task {
  const warn = (ids: readonly string[]) =>
    db.transaction(async (tx) => {
      const now = clock.now()
      const low = await markLowBalances(tx, ids, now)
      const notices = low.map(({ account_id, email, threshold_usd, balance_micros }) => {
        const email_text = lowBalanceEmail(balance_micros, microsFromUsd(threshold_usd))
        const rendered = renderEmail(email_text, settings)
        return { account_id, kind: 'low_balance', recipient: email, ...rendered, now }
      })
      await insertNotices(tx, notices)
    })
  let after = ''
  return {
    name: 'warn_low_balance',
    every_ms: 5_000,
    idle_ms: 15_000,
    run: async () => {
      const slice = await findSlice(db, after)
      await clearRecovered(db, { after, last: slice.last })
      // Not always a transaction, because a commit would wake the other tasks.
      if (slice.low_ids.length > 0) await warn(slice.low_ids)
      after = slice.last ?? ''
    },
  }
}

const THRESHOLD = "(a.notifications ->> 'low_balance_threshold_usd')::numeric"
/** As in the index of these accounts. */
const HAS_THRESHOLD = "notifications ->> 'low_balance_threshold_usd' is not null"

const IS_NEWLY_LOW = `p.balance_micros < ${THRESHOLD} * 1000000
   and not exists (select from low_balances l where l.account_id = a.id)`

/** The next accounts with a threshold; `last` is null if they are the last ones. */
type Slice = { last: string | null; low_ids: readonly string[] }

async function findSlice(tx: Tx, after: string): Promise<Slice> {
  const [row] = await tx.rows<Slice>(
    `select case when count(*) = ${ACCOUNTS_MAX} then max(a.id) end as last,
            coalesce(array_agg(a.id) filter (where ${IS_NEWLY_LOW}), '{}') as low_ids
       from (select id, notifications from accounts where ${HAS_THRESHOLD} and id > $1
              order by id limit ${ACCOUNTS_MAX}) a
       left join lateral (${purseSql('treasury', 'a.id')}) p on true`,
    [after],
  )
  return row ?? { last: null, low_ids: [] }
}

/** Marks and returns those that still are low; the mark keeps another node from emailing too. */
function markLowBalances(tx: Tx, ids: readonly string[], now: Date): Promise<LowBalance[]> {
  return tx.rows<LowBalance>(
    `with low as (
       select a.id as account_id, a.email, p.balance_micros,
              ${THRESHOLD}::double precision as threshold_usd
         from accounts a
         join lateral (${purseSql('treasury', 'a.id')}) p on true
        where a.id = any($2) and ${IS_NEWLY_LOW}),
     marked as (
       insert into low_balances (account_id, notified_at) select account_id, $1 from low
           on conflict do nothing
    returning account_id)
     select low.* from low join marked using (account_id)`,
    [now, ids],
  )
}

async function clearRecovered(tx: Tx, { after, last }: { after: string; last: string | null }) {
  await tx.run(
    `delete from low_balances l using accounts a
      where l.account_id > $1 and ($2::text is null or l.account_id <= $2) and a.id = l.account_id
        and not exists (
              select from (${purseSql('treasury', 'a.id')}) p
               where p.balance_micros < ${THRESHOLD} * 1000000)`,
    [after, last],
  )
}
