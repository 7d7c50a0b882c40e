import { notFound } from '#contract/common_problems.ts'
import type { Ticket } from '#contract/support.ts'
import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makePageReader } from '#platform/postgres/page.ts'
import type { MessageRow, TicketRow } from './ticket.ts'

const COLUMNS = `account_id, id, subject, category, status, card_id, transaction_id, version,
  created_at, updated_at`

export async function countActiveCards(tx: Tx, account_id: string): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(
    `select count(*)::int as count from cards where account_id = $1 and status = 'active'`,
    [account_id],
  )
  return row?.count ?? 0
}

type NewTicket = Omit<TicketRow, 'status' | 'version' | 'updated_at'>

export async function insertTicket(tx: Tx, ticket: NewTicket): Promise<TicketRow> {
  const [row] = await tx.rows<TicketRow>(
    `insert into tickets (account_id, id, subject, category, card_id, transaction_id, created_at,
                          updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7)
  returning ${COLUMNS}`,
    [
      ticket.account_id,
      ticket.id,
      ticket.subject,
      ticket.category,
      ticket.card_id,
      ticket.transaction_id,
      ticket.created_at,
    ],
  )
  assert(row !== undefined, 'the new ticket was stored')
  return row
}

export async function insertMessage(tx: Tx, message: MessageRow): Promise<void> {
  await tx.run(
    `insert into ticket_messages (account_id, ticket_id, id, author, body, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      message.account_id,
      message.ticket_id,
      message.id,
      message.author,
      message.body,
      message.created_at,
    ],
  )
}

export async function countMessages(tx: Tx, { account_id, id }: TicketRow): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(
    `select count(*)::int as count from ticket_messages
      where account_id = $1 and ticket_id = $2`,
    [account_id, id],
  )
  return row?.count ?? 0
}

/** Messages of these tickets, oldest first. */
export function findMessages(tx: Tx, tickets: readonly TicketRow[]): Promise<MessageRow[]> {
  return tx.rows<MessageRow>(
    `select m.account_id, m.ticket_id, m.id, m.author, m.body, m.created_at
       from ticket_messages m
       join unnest($1::text[], $2::text[]) t (account_id, id)
         on t.account_id = m.account_id and t.id = m.ticket_id
      order by m.id`,
    [tickets.map(({ account_id }) => account_id), tickets.map(({ id }) => id)],
  )
}

/** Bytes of the messages of each ticket. */
export async function measureMessages(
  tx: Tx,
  tickets: readonly TicketRow[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.rows<{ id: string; bytes: number }>(
    `select m.ticket_id as id, sum(octet_length(m.body))::int as bytes
       from ticket_messages m
       join unnest($1::text[], $2::text[]) t (account_id, id)
         on t.account_id = m.account_id and t.id = m.ticket_id
      group by m.ticket_id`,
    [tickets.map(({ account_id }) => account_id), tickets.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

export const readTicketPage = makePageReader<TicketRow>({
  prefix: 'tkt',
  select: `select ${COLUMNS} from tickets`,
})

export async function findTicketOf(tx: Tx, account_id: string, id: string): Promise<TicketRow> {
  const [row] = await tx.rows<TicketRow>(
    `select ${COLUMNS} from tickets where account_id = $1 and id = $2`,
    [account_id, id],
  )
  if (row === undefined) throw notFound('ticket')
  return row
}

export async function lockTicketOf(tx: Tx, account_id: string, id: string): Promise<TicketRow> {
  const [row] = await tx.rows<TicketRow>(
    `select ${COLUMNS} from tickets where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  if (row === undefined) throw notFound('ticket')
  return row
}

/** For operators, so it finds tickets of every account. */
export async function lockTicket(tx: Tx, id: string): Promise<TicketRow> {
  const [row] = await tx.rows<TicketRow>(
    `select ${COLUMNS} from tickets where id = $1 for update`,
    [id],
  )
  if (row === undefined) throw notFound('ticket')
  return row
}

export async function changeTicket(
  tx: Tx,
  { account_id, id }: TicketRow,
  { status, now }: { status: Ticket['status']; now: Date },
): Promise<TicketRow> {
  const [row] = await tx.rows<TicketRow>(
    `update tickets set status = $3, version = version + 1, updated_at = $4
      where account_id = $1 and id = $2
  returning ${COLUMNS}`,
    [account_id, id, status, now],
  )
  assert(row !== undefined, 'a locked ticket exists')
  return row
}
