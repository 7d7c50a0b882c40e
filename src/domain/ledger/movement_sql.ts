/**
 * Other rooms read movements through this file, as SQL for statements that need them next to their
 * own rows. A condition names columns of movements.
 */

/** Must match the index predicate exactly: a parameter here would hide the index. */
const CROSSES = `(from_kind in ('treasury', 'card', 'hold')) <>
  (to_kind in ('treasury', 'card', 'hold'))`

/** Selects the movements of an account that change its treasury and cards together. */
export const crossingMovementsSql = (account_id: string, condition: string): string =>
  `select * from movements where account_id = ${account_id} and ${condition} and ${CROSSES}`

/** Selects the loads and unloads of an account's cards. */
export const cardTransfersSql = (account_id: string, condition: string): string =>
  `select * from movements
    where account_id = ${account_id} and ${condition}
      and movement in ('card_loaded', 'card_unloaded')`

/** Selects the payments to card networks; what a network pays back is negative. */
export const network_payments_sql = `
  select account_id, id, reference_id,
         case when to_kind = 'network' then amount_micros else -amount_micros end as paid_micros
    from movements where to_kind = 'network' or from_kind = 'network'`
