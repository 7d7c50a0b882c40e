import { rowsIn, rowsNear, SLICES } from '#domain/context/proof.ts'

/** The transactions that were made in a slice. */
const MADE = `made as materialized (
  select t.* from slices s ${rowsIn('transactions', 'txn', 't')}
)`

/** The events of transactions in a slice. */
const EVENTS = `of_events as materialized (
  select e.account_id, e.id, e.type, e.resource_id, e.card_id, e.created_at
    from slices s ${rowsIn('events', 'evt', 'e')}
   where e.resource_type = 'transaction'
)`

/** The movements of transactions that were written together with rows of a slice. */
const MOVEMENTS = `moved as materialized (
  select m.account_id, m.id, m.movement, m.reference_id, m.amount_micros
    from slices s ${rowsNear('movements', 'bal', 'm')}
   where m.reference_type = 'transaction'
)`

/**
 * The transactions that a slice made or changed, found by the rows it wrote about them. Most were
 * made in it and are not read again.
 */
const TOUCHED = `touched as materialized (
  select * from made
  union all
  select t.* from (
    select account_id, authorization_id as id from made where authorization_id is not null
    union select account_id, resource_id from of_events
    union select account_id, reference_id from moved
    union select p.account_id, p.capture_id
            from made m
            join lateral (select * from refund_parts
                           where account_id = m.account_id and refund_id = m.id offset 0) p on true
           where m.type = 'refund'
    except select account_id, id from made
  ) k
  join lateral (select * from transactions where account_id = k.account_id and id = k.id offset 0) t
    on true
)`

/** SQL: the ID before which all transactions are archived. */
export const MONEY_FLOOR = `'txn_' || (select max(money_floor) from slices)`

/** SQL: events about transactions before this ID may be deleted. */
export const EVENTS_FLOOR = `'txn_' || (select max(events_floor) from slices)`

/** Statements over the transactions of a slice begin with this. */
export const OF_TRANSACTIONS = [SLICES, MADE, EVENTS, MOVEMENTS, TOUCHED].join(', ')
