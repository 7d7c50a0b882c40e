import { type Proof, SLICES, usd } from '#domain/context/proof.ts'

/** Purchases that may still count in a month are younger than 62 days before it. */
const COUNTED_SINCE = `'txn_' || id_time(p.month_start - interval '62 days')`

type Period = { start: string; is_counted: string; counted: string }

/**
 * SQL: the least and the most that a card's transactions counted in a period. They are equal except
 * for amounts whose share is not stored: captures above the rest of an older authorization, and
 * reversed parts of single-message purchases. A node whose clock is behind counts on the later day
 * that another node has begun, so a capture may be some seconds older than its period.
 */
function countedIn({ start, is_counted, counted }: Period): string {
  const is_made = `t.created_at >= ${start}`
  const is_in_time = `t.created_at >= ${start} - interval '10 seconds'`
  return `
    coalesce(sum(case
      when t.type = 'capture' then
        case when t.authorization_id is null and ${is_made} then t.amount_micros else 0 end
      when t.type <> 'authorization' then 0
      when t.is_single_message and t.counted_day is null then case when ${is_made}
        then greatest(t.captured_micros - t.refunded_micros, 0) else 0 end
      when t.counted_day is not null then case when ${is_counted} then ${counted} else 0 end
      when ${is_made} then t.open_micros + t.captured_micros
      else 0 end), 0) as least,
    coalesce(sum(case
      when t.type = 'capture' then case
        when ${is_in_time} and coalesce(t.authorization_id < 'txn_' || id_time(${start}), true)
        then t.amount_micros else 0 end
      when t.type <> 'authorization' then 0
      when t.is_single_message and t.counted_day is null then
        case when ${is_made} then t.captured_micros else 0 end
      when t.counted_day is not null then
        case when ${is_counted} then ${counted} + t.captured_micros else 0 end
      when ${is_made} then t.open_micros + t.captured_micros
      else 0 end), 0) as most`
}

const DAY = countedIn({
  start: 'p.day_start',
  is_counted: 't.counted_day = p.spent_day',
  counted: 't.counted_day_micros',
})
const MONTH = countedIn({
  start: 'p.month_start',
  is_counted: `t.counted_day >= date_trunc('month', p.spent_day::timestamp)::date`,
  counted: 't.counted_month_micros',
})

/**
 * The cards whose purse has moved, with the cards they replaced: a chain of replaced cards shares
 * the counters of the last one.
 */
const CARDS = `cards_moved as materialized (
  select p.*, p.spent_day::timestamp at time zone 'UTC' as day_start,
         date_trunc('month', p.spent_day::timestamp) at time zone 'UTC' as month_start,
         array(with recursive chain as (
                 select c.id, c.replaces
                 union all
                 select o.id, o.replaces from chain n
                   join lateral (select * from cards
                                  where account_id = p.account_id and id = n.replaces offset 0) o
                     on true)
               select id from chain) as chain
    from slices s
    join lateral (select * from purses r
                   where r.account_id = s.account_id and r.kind = 'card'
                     and r.spent_day is not null
                     and coalesce(r.moved_at, s.since) >= s.since offset 0) p on true
    join lateral (select * from cards
                   where account_id = p.account_id and id = p.owner_id offset 0) c on true
   where c.replaced_by is null
     and date_trunc('month', p.spent_day::timestamp) at time zone 'UTC' - interval '62 days'
           >= s.money_since
)`

const TRANSACTIONS = `(select * from transactions t
   where t.card_id = any(p.chain collate "C") and t.id > ${COUNTED_SINCE} offset 0) t`

/** Counters that limit a card, computed again from its transactions. */
export const spending_proofs: readonly Proof[] = [
  {
    name: "a card's spending of the day is what its transactions of that day counted",
    scope: 'account',
    sql: `${SLICES}, ${CARDS}
      select p.account_id, p.owner_id as id,
             format('The card counts %s for %s; its transactions count %s to %s.',
                    ${usd('p.day_spent_micros')}, p.spent_day, ${usd('c.least')}, ${usd('c.most')})
               as sentence
        from cards_moved p
        cross join lateral (select ${DAY} from ${TRANSACTIONS}) c
       where p.day_spent_micros < c.least
          or p.day_spent_micros > c.most`,
  },
  {
    name: "a card's spending of the month is what its transactions of that month counted",
    scope: 'account',
    sql: `${SLICES}, ${CARDS}
      select p.account_id, p.owner_id as id,
             format('The card counts %s for the month of %s; its transactions count %s to %s.',
                    ${usd('p.month_spent_micros')}, p.spent_day, ${usd('c.least')},
                    ${usd('c.most')}) as sentence
        from cards_moved p
        cross join lateral (select ${MONTH} from ${TRANSACTIONS}) c
       where p.month_spent_micros < c.least
          or p.month_spent_micros > c.most`,
  },
]

const SKEW = `interval '10 seconds'`
const WRONG_RULES = `array['cvv_mismatch', 'expiry_mismatch']`

/**
 * Wrong security codes and expiry dates, which block a card after five. A decline may be some
 * seconds later than its attempt: it sorts after a row that a node with a faster clock made.
 */
export const attempt_proofs: readonly Proof[] = [
  {
    name: "a card's failed attempts are its declines for a wrong code or date",
    scope: 'account',
    sql: `${SLICES}
      select a.account_id, a.card_id as id,
             format('The card counts %s failed attempts; %s declines of that day say so.',
                    a.attempts, d.most) as sentence
        from slices s
        join lateral (select r.account_id, r.id as card_id, cardinality(r.failed_at) as attempts,
                             (select min(f) from unnest(r.failed_at) f) as first_at,
                             (select max(f) from unnest(r.failed_at) f) as last_at
                        from cards r where r.account_id = s.account_id offset 0) a
          on a.last_at >= s.since and a.first_at - interval '1 day' >= s.money_since
        cross join lateral (
          select count(*) as most,
                 count(*) filter (where t.created_at <= a.last_at and
                   t.created_at > a.last_at - interval '1 day' + ${SKEW}) as least
            from (select * from transactions t
           where t.card_id = a.card_id collate "C"
             and t.id > 'txn_' || id_time(a.last_at - interval '1 day' - ${SKEW})
             and t.id < 'txn_' || id_time(a.last_at + ${SKEW}) offset 0) t
           where t.type = 'decline' and t.failed_rules && ${WRONG_RULES}) d
       where a.attempts not between least(d.least, 5) and least(d.most, 5)`,
  },
]
