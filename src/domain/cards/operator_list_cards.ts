import type { Card } from '#contract/cards.ts'
import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, type Condition, equals, readPage } from '#platform/postgres/page.ts'
import { type CardKey, showCard } from './card_store.ts'

export const operatorListCards: OperatorHandler<'operator_list_cards'> = async (
  { tx, now },
  input,
) => {
  const where: Condition[] = [
    ['id is not null'],
    ...equals('last4', input.last4),
    ...equals('account_id', input.account_id),
    ...equals('id', input.card_id),
    ...anyOf('status', input.status),
    ...anyOf("shipping ->> 'status'", input.shipping_status),
  ]
  const page = await readPage<CardKey>(tx, {
    operation: 'operator_list_cards',
    prefix: 'card',
    select: 'select account_id, id from cards',
    where,
    input,
  })
  const data: (Card & { account_id: string })[] = []
  for (const key of page.data) {
    data.push({ account_id: key.account_id, ...(await showCard(tx, key, now)) })
  }
  return withEmails(tx, { ...page, data })
}
