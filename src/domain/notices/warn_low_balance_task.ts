import { dollarsFromMicros, type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Seams } from '#platform/context.ts'
import type { Tx } from '#platform/db.ts'
import type { Task } from '#platform/tasks.ts'
import { writeLetter } from './notice.ts'
import { insertNotices } from './notice_store.ts'

type Low = { account_id: string; email: string; threshold_usd: number; balance_micros: Micros }

const BATCH = 200

/**
 * Compares balances with the thresholds of their owners, so that no room that moves money has to
 * think of it. An owner hears once, and again only after the balance has been above in between.
 */
export function warnLowBalanceTask(tools: Pick<Seams, 'db' | 'clock' | 'settings'>): Task {
  const { db, clock, settings } = tools
  const { public_url, mode } = settings
  const once = () =>
    db.transaction(async (tx) => {
      const now = clock.now()
      const low = await takeLow(tx, now)
      const notices = low.map(({ account_id, email, threshold_usd, balance_micros }) => {
        const threshold = dollarsFromMicros(microsFromUsd(threshold_usd))
        const lines = [
          `Your balance is ${dollarsFromMicros(balance_micros)} USD, below the ${threshold} USD ` +
            'that you asked to be warned at.',
        ]
        const letter = { subject: 'Your balance is low', lines, public_url }
        const written = writeLetter({ ...letter, livemode: mode === 'live' })
        return { account_id, kind: 'low_balance', recipient: email, ...written, now }
      })
      await insertNotices(tx, notices)
      return low.length
    })
  return {
    name: 'warn_low_balance',
    every_ms: 5_000,
    idle_ms: 15_000,
    pass: async () => {
      await forgetRecovered(db)
      if (!(await hasLow(db))) return
      while ((await once()) === BATCH);
    },
  }
}

const THRESHOLD = "(a.notifications ->> 'low_balance_threshold_usd')::numeric"

const LOW = `
  from accounts a
  join purses p on p.account_id = a.id and p.kind = 'treasury' and p.owner_id = ''
 where a.notifications ->> 'low_balance_threshold_usd' is not null
   and p.balance_micros < ${THRESHOLD} * 1000000
   and not exists (select from low_balances l where l.account_id = a.id)`

/** A look without a transaction: a commit would tell the other tasks that there is work. */
async function hasLow(tx: Tx): Promise<boolean> {
  return (await tx.rows(`select ${LOW} limit 1`)).length > 0
}

/** Marks them as told and answers with them; the mark keeps a second node from telling again. */
function takeLow(tx: Tx, now: Date): Promise<Low[]> {
  return tx.rows<Low>(
    `with low as (
       select a.id as account_id, a.email, p.balance_micros,
              ${THRESHOLD}::double precision as threshold_usd
       ${LOW}
        limit ${BATCH}),
     told as (
       insert into low_balances (account_id, told_at) select account_id, $1 from low
           on conflict do nothing
    returning account_id)
     select low.* from low join told using (account_id)`,
    [now],
  )
}

async function forgetRecovered(tx: Tx): Promise<void> {
  await tx.run(
    `delete from low_balances l using accounts a
      where a.id = l.account_id
        and not exists (
              select from purses p
               where p.account_id = a.id and p.kind = 'treasury' and p.owner_id = ''
                 and p.balance_micros < ${THRESHOLD} * 1000000)`,
  )
}
