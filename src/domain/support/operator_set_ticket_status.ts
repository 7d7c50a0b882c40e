import type { OperatorHandler } from '#domain/operators/operator.ts'
import { lockTicket } from './ticket_store.ts'
import { updateTicketStatus } from './update_ticket_status.ts'

export const operatorSetTicketStatus: OperatorHandler<'operator_set_ticket_status'> = async (
  context,
  { id, status },
) => {
  const ticket = await lockTicket(context.tx, id)
  return updateTicketStatus(context, ticket, { action: 'set_ticket_status', status })
}
