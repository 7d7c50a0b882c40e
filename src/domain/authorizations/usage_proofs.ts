import { changedRows, type Proof, rowsIn, SLICES } from '#domain/context/proof.ts'

/**
 * SQL: new approvals with their card. The network decided stand-in approvals, whatever the card
 * allows.
 */
const APPROVALS = `
  from slices s ${rowsIn('transactions', 'txn', 't')}
  join lateral (select * from cards r
                 where r.account_id = t.account_id and r.id = t.card_id offset 0) c on true
 where t.type = 'authorization' and not t.is_stand_in`

/** SQL: a name as far as every collation compares it alike. */
const word = (name: string): string =>
  `regexp_replace(lower(left(${name}, 25) collate "C"), '[^a-z0-9]', '', 'g')`

/** Compare the state of cards of limited usage with their purchases. */
export const usage_proofs: readonly Proof[] = [
  {
    name: 'an approved purchase of a single-use card is its only one, and has used the card',
    scope: 'slice',
    sql: `${SLICES}, approvals as materialized (
        select distinct c.account_id, c.id, c.cancel_reason ${APPROVALS} and c.usage = 'single_use')
      select a.account_id, a.id,
             format('The single-use card has %s approved purchases and %s used.', n.approved,
                    case when a.cancel_reason = 'used' then 'is' else 'is not' end) as sentence
        from approvals a
        cross join lateral (select count(*) as approved from transactions o
                             where o.card_id = a.id and o.type = 'authorization'
                               and not o.is_stand_in) n
       where n.approved <> 1 or a.cancel_reason is distinct from 'used'`,
  },
  {
    name: 'each used single-use card has an approved purchase',
    scope: 'account',
    sql: `${SLICES}
      select c.account_id, c.id, 'The card is used, without a purchase.' as sentence
        from slices s ${changedRows('cards', 'c')}
       where c.cancel_reason = 'used' and c.cancelled_at >= s.money_since
         and not exists (select 1 from transactions t
                          where t.card_id = c.id and t.type = 'authorization')`,
  },
  {
    name: "each approved purchase of a merchant-locked card has its lock's merchant",
    scope: 'slice',
    sql: `${SLICES}
      select t.account_id, t.id,
             format('The purchase is at %s; the card is locked to %s.', t.merchant_name,
                    coalesce(c.merchant_lock_name, 'no merchant')) as sentence
             ${APPROVALS} and c.usage = 'merchant_locked'
         and case when t.merchant_id is not null and c.merchant_lock_id is not null
                  then t.merchant_id <> c.merchant_lock_id
                  else ${word('t.merchant_name')}
                       is distinct from ${word('c.merchant_lock_name')} end`,
  },
]
