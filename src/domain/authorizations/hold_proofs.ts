import { type Proof, SLICES, usd } from '#domain/context/proof.ts'

/** The holds of a card are younger than this, or their sum is computed from all its purchases. */
const HOLDS_SINCE = `'txn_' || id_time(s.now - interval '62 days')`

/** The holds of cards, and card payments that have waited for too long. */
export const hold_proofs: readonly Proof[] = [
  {
    name: "every card's hold purse equals what its authorizations hold",
    scope: 'account',
    sql: `${SLICES}
      select p.account_id, p.owner_id as id,
             format('The hold purse has %s; the authorizations of the card hold %s.',
                    ${usd('p.held_micros')}, ${usd('a.held')}) as sentence
        from slices s
        join lateral (select * from purses r
                       where r.account_id = s.account_id and r.kind = 'card'
                         and coalesce(r.moved_at, s.since) >= s.since offset 0) p on true
        cross join lateral (select coalesce(sum(t.held_micros), 0) as held from transactions t
                             where t.card_id = p.owner_id collate "C" and t.id > ${HOLDS_SINCE}) h
        cross join lateral (select case when h.held = p.held_micros then h.held
                                   else (select coalesce(sum(t.held_micros), 0)
                                           from transactions t
                                          where t.card_id = p.owner_id collate "C")
                                   end as held) a
       where a.held <> p.held_micros`,
  },
  {
    name: "no authorization expires before its card's purse says",
    scope: 'account',
    sql: `${SLICES}
      select p.account_id, p.owner_id as id,
             format('An authorization expires at %s; the purse has %s.', a.first,
                    coalesce(p.holds_expire_at::text, 'none')) as sentence
        from slices s
        join lateral (select * from purses r
                       where r.account_id = s.account_id and r.kind = 'card'
                         and coalesce(r.moved_at, s.since) >= s.since offset 0) p on true
        cross join lateral (select min(t.expires_at) as first from transactions t
                             where t.card_id = p.owner_id collate "C" and t.id > ${HOLDS_SINCE}
                               and t.open_micros > 0) a
       where a.first < coalesce(p.holds_expire_at, 'infinity')`,
  },
  {
    name: 'no hold is kept for more than an hour after it expired',
    scope: 'program',
    sql: `select t.account_id, t.id,
                 format('The hold expired at %s and still holds %s.', t.expires_at,
                        ${usd('t.held_micros')}) as sentence
            from (select owner_id from purses
                   where holds_expire_at < $1::timestamptz - interval '1 hour'
                   order by holds_expire_at limit 1000) p
            cross join lateral (select * from transactions
                                 where card_id = p.owner_id collate "C" and open_micros > 0
                                   and expires_at < $1::timestamptz - interval '1 hour'
                                offset 0) t`,
  },
  {
    name: 'no 3-D Secure challenge is pending after it expired',
    scope: 'program',
    sql: `select account_id, id,
                 format('The challenge expired at %s and is still pending.', expires_at) as sentence
            from three_ds_challenges
           where status = 'pending' and expires_at < $1::timestamptz - interval '10 minutes'
           order by expires_at limit 1000`,
  },
  {
    name: 'no clearing or refund waits for a person for more than 7 days',
    scope: 'program',
    sql: `select account_id, id,
                 format('The %s of %s has waited for %s since %s.', kind,
                        coalesce(nullif(merchant_name, ''), 'an unknown merchant'),
                        case waits_for when 'review' then 'a review' else 'its USD amount' end,
                        created_at) as sentence
            from pending_clearings
           where settled_at is null and refused_at is null
             and id < 'txn_' || id_time($1::timestamptz - interval '7 days')
           order by id limit 1000`,
  },
]
