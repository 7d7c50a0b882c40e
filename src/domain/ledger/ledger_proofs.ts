import { type Proof, rowsIn, SLICES, usd } from '#domain/context/proof.ts'
import { movements } from './movements.ts'

const VALID_MOVEMENTS = Object.entries(movements)
  .map(([name, { from, to }]) => `('${name}', '${from}', '${to}')`)
  .join(', ')

const IS_OF_TREASURY = `(from_kind = 'treasury' or to_kind = 'treasury')`
const TREASURY_ENTRY = `id,
  case from_kind when 'treasury' then -amount_micros else amount_micros end as amount,
  case from_kind when 'treasury' then from_balance_micros else to_balance_micros end as balance`

const ARCHIVED_TREASURY = `(
  select coalesce(sum(amount_micros), 0) from archived_sums
   where account_id = s.account_id and kind = 'treasury')`

/** Proofs of the ledger. Balances are proven by running_balances.ts. */
export const ledger_proofs: readonly Proof[] = [
  {
    name: 'every treasury entry follows from the one before it',
    scope: 'slice',
    sql: `${SLICES}
      select s.account_id, t.id,
             format('The treasury has %s after this movement; it should have %s.',
                    ${usd('t.balance')}, ${usd('t.before + t.amount')}) as sentence
        from slices s
        cross join lateral (
          select id, amount, balance,
                 coalesce(lag(balance) over (order by id), ${ARCHIVED_TREASURY}) as before
            from ((select ${TREASURY_ENTRY} from movements
                    where account_id = s.account_id and id <= 'bal_' || s.after
                      and ${IS_OF_TREASURY}
                    order by id desc limit 1)
                  union all
                  (select ${TREASURY_ENTRY} from movements
                    where account_id = s.account_id and id > 'bal_' || s.after
                      and id <= 'bal_' || s.through and ${IS_OF_TREASURY})) entries
        ) t
       where t.id > 'bal_' || s.after and t.balance <> t.before + t.amount`,
  },
  {
    name: 'every movement is one of the table, between purses of its kinds',
    scope: 'slice',
    sql: `${SLICES}
      select m.account_id, m.id,
             format('%s moved %s from %s to %s, which no movement of that name does.', m.movement,
                    ${usd('m.amount_micros')}, m.from_kind, m.to_kind) as sentence
        from slices s ${rowsIn('movements', 'bal', 'm')}
       where (m.movement, m.from_kind, m.to_kind) not in (values ${VALID_MOVEMENTS})`,
  },
  {
    name: 'only a debt is below zero',
    scope: 'account',
    sql: `${SLICES}
      select p.account_id, coalesce(nullif(p.owner_id, ''), p.kind) as id,
             format('The %s purse has %s, held %s.', p.kind, ${usd('p.balance_micros')},
                    ${usd('p.held_micros')}) as sentence
        from slices s
        join lateral (select * from purses where account_id = s.account_id offset 0) p on true
       where p.held_micros < 0
          or case p.kind when 'receivable' then p.balance_micros > 0 else p.balance_micros < 0 end`,
  },
  {
    name: 'all entries sum to zero',
    scope: 'whole',
    sql: `select null as account_id, 'entries' as id,
                 format('All entries sum to %s.', ${usd('sum(amount_micros)')}) as sentence
            from entries having sum(amount_micros) <> 0`,
  },
]
