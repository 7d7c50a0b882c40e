import type { Ticket } from '#contract/support.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { anyOf, equals, mapPage, type PageInput, type PageOf } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'

type TicketFilter = PageInput & { status?: string; account_id?: string }

/** For operators: tickets of every account. */
export async function findTickets(
  { tx }: OperatorContext,
  input: TicketFilter,
): Promise<PageOf<Ticket & { account_id: string }>> {
  const page = await showTickets(tx, {
    operation: 'operator.list_tickets',
    where: [...anyOf('status', input.status), ...equals('account_id', input.account_id)],
    input,
  })
  return mapPage(page, ({ account_id, ticket }) => ({ account_id, ...ticket }))
}
