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

const BATCH_SIZE = 200

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
  const warnBatch = () =>
    db.transaction(async (tx) => {
      const now = clock.now()
      const low = await markLowBalances(tx, now)
      const notices = low.map(({ account_id, email, threshold_usd, balance_micros }) => {
        const email_text = lowBalanceEmail(balance_micros, microsFromUsd(threshold_usd))
        const rendered = renderEmail(email_text, settings)
        return { account_id, kind: 'low_balance', recipient: email, ...rendered, now }
      })
      await insertNotices(tx, notices)
      return low.length
    })
  return {
    name: 'warn_low_balance',
    every_ms: 5_000,
    idle_ms: 15_000,
    run: async () => {
      await clearRecovered(db)
      if (!(await hasLowBalance(db))) return
      while ((await warnBatch()) === BATCH_SIZE);
    },
  }
}

const THRESHOLD = "(a.notifications ->> 'low_balance_threshold_usd')::numeric"

const LOW = `
  from accounts a
  join lateral (${purseSql('treasury', 'a.id')}) p on true
 where a.notifications ->> 'low_balance_threshold_usd' is not null
   and p.balance_micros < ${THRESHOLD} * 1000000
   and not exists (select from low_balances l where l.account_id = a.id)`

/** Reads without a transaction, because a commit would wake the other tasks. */
async function hasLowBalance(tx: Tx): Promise<boolean> {
  return (await tx.rows(`select ${LOW} limit 1`)).length > 0
}

/** Marks and returns accounts with a low balance; the mark keeps another node from emailing too. */
function markLowBalances(tx: Tx, now: Date): Promise<LowBalance[]> {
  return tx.rows<LowBalance>(
    `with low as (
       select a.id as account_id, a.email, p.balance_micros,
              ${THRESHOLD}::double precision as threshold_usd
       ${LOW}
        limit ${BATCH_SIZE}),
     marked as (
       insert into low_balances (account_id, notified_at) select account_id, $1 from low
           on conflict do nothing
    returning account_id)
     select low.* from low join marked using (account_id)`,
    [now],
  )
}

async function clearRecovered(tx: Tx): Promise<void> {
  await tx.run(
    `delete from low_balances l using accounts a
      where a.id = l.account_id
        and not exists (
              select from (${purseSql('treasury', 'a.id')}) p
               where p.balance_micros < ${THRESHOLD} * 1000000)`,
  )
}
