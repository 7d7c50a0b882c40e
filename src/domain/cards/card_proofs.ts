import { changedRows, eventCount, type Proof, rowsIn, SLICES } from '#domain/context/proof.ts'

const eventsOf = (at: string, type: string) =>
  eventCount({ account_id: 'c.account_id', id: 'c.id', at: `c.${at}` }, `'${type}'`)

/** SQL: the time of the last event of a type; null if the card has none. */
const lastEvent = (type: string) => `(
  select e.created_at from events e
   where e.account_id = c.account_id and e.activity_type = 'card' and e.card_id = c.id
     and e.type = '${type}'
   order by e.id desc limit 1)`

/** The clocks of two nodes may differ: events this close together may be in either order. */
const SKEW = `interval '10 seconds'`

/**
 * The events that a status leaves in the activity stream. A card can be frozen twice at the same
 * time by the clocks of two nodes, but it is cancelled only once.
 */
const STATUS_EVENTS = `
  case c.status when 'frozen' then ${eventsOf('frozen_at', 'card.frozen')}
                when 'cancelled' then ${eventsOf('cancelled_at', 'card.cancelled')}
                else 1 end`

/** Every change of a card's status has one event, and the status follows from the events. */
export const card_proofs: readonly Proof[] = [
  {
    name: 'each card has one event of its issue',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The card has %s events of its issue instead of 1.', issued) as sentence
        from (select c.account_id, c.id, ${eventsOf('created_at', 'card.issued')} as issued
                from slices s ${changedRows('cards', 'c')}) cards
       where issued <> 1`,
  },
  {
    name: 'each frozen card has an event of that change, and each cancelled card one',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The card is %s, with %s events of that change.', status, changes) as sentence
        from (select c.account_id, c.id, c.status, ${STATUS_EVENTS} as changes
                from slices s ${changedRows('cards', 'c')}) cards
       where changes = 0 or (status = 'cancelled' and changes > 1)`,
  },
  {
    name: "each card event has its card, whose status follows from the card's events",
    scope: 'slice',
    sql: `${SLICES}
      select e.account_id, e.resource_id as id,
             case when c.id is null then 'There is an event of this card, but no such card.'
                  else format('The card is %s, which does not follow from its events.', c.status)
             end as sentence
        from (select distinct e.account_id, e.resource_id
                from slices s ${rowsIn('events', 'evt', 'e')}
               where e.resource_type = 'card' and e.type in ('card.issued', 'card.frozen',
                       'card.unfrozen', 'card.cancelled')) e
        left join lateral (select * from cards
                            where account_id = e.account_id and id = e.resource_id) c on true
        left join lateral (select ${lastEvent('card.frozen')} as frozen_at,
                                  ${lastEvent('card.unfrozen')} as unfrozen_at,
                                  ${lastEvent('card.cancelled')} as cancelled_at) l on true
       where c.id is null
          or (c.status = 'cancelled') <> (l.cancelled_at is not null)
          or c.status = 'active' and l.frozen_at > coalesce(l.unfrozen_at, '-infinity') + ${SKEW}
          or c.status = 'frozen' and (l.frozen_at is null
                                      or l.unfrozen_at > l.frozen_at + ${SKEW})`,
  },
  {
    name: "a card's status has the timestamps of its path",
    scope: 'account',
    sql: `${SLICES}
      select c.account_id, c.id,
             format('The card is %s, but its timestamps say otherwise.', c.status) as sentence
        from slices s ${changedRows('cards', 'c')}
       where (c.status = 'frozen' and (c.frozen_at is null or c.frozen_by is null))
          or (c.status = 'active' and (c.frozen_at is not null or c.frozen_by is not null))
          or (c.replaced_by is not null and c.cancel_reason is distinct from 'replaced')`,
  },
]
