import type { Ticket } from '#contract/support.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { anyOf, equals, type PageInput, type PageOf } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'

type Wanted = PageInput & { status?: string; account_id?: string }

/** Tickets of any account, for whoever answers them. */
export async function findTickets(
  { tx }: OperatorContext,
  input: Wanted,
): Promise<PageOf<Ticket & { account_id: string }>> {
  const page = await showTickets(tx, {
    operation: 'operator.list_tickets',
    input,
    where: [
      ['id is not null'],
      ...anyOf('status', input.status),
      ...equals('account_id', input.account_id),
    ],
  })
  return { ...page, data: page.data.map(({ account_id, ticket }) => ({ account_id, ...ticket })) }
}
