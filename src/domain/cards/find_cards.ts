import type { Card } from '#contract/cards.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import {
  anyOf,
  type Condition,
  equals,
  type PageInput,
  type PageOf,
  readPage,
} from '#platform/postgres/page.ts'
import { type CardKey, showCard } from './card_store.ts'

type CardSearch = PageInput & {
  last4?: string
  account_id?: string
  status?: string
  shipping_status?: string
}

type OwnedCard = Card & { account_id: string }

/** Cards of any account, for operators. */
export async function findCardsOfAll(
  { tx, now }: OperatorContext,
  input: CardSearch,
): Promise<PageOf<OwnedCard>> {
  const where: Condition[] = [
    ['id is not null'],
    ...equals('last4', input.last4),
    ...equals('account_id', input.account_id),
    ...anyOf('status', input.status),
    ...anyOf("shipping ->> 'status'", input.shipping_status),
  ]
  const page = await readPage<CardKey>(tx, {
    operation: 'operator.find_cards',
    prefix: 'card',
    select: 'select account_id, id from cards',
    where,
    input,
  })
  const data: OwnedCard[] = []
  for (const key of page.data) {
    data.push({ account_id: key.account_id, ...(await showCard(tx, key, now)) })
  }
  return { ...page, data }
}
