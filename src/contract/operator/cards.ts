import Type from 'typebox'
import { Card } from '#contract/cards.ts'
import { EnumList, Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { operatorOperation } from './operation.ts'
import { AccountFilter, owned } from './shapes.ts'

const CardId = Id('card', 'ID of the card.')
const shipping_statuses = [
  'pending',
  'submitted',
  'shipped',
  'delivered',
  'returned',
  'failed',
  'cancelled',
] as const

export const operator_list_cards = operatorOperation({
  name: 'operator_list_cards',
  method: 'GET',
  path: '/cards',
  role: 'viewer',
  summary: 'List cards of all accounts, by last four digits or shipping status.',
  input: Input({
    ...pageQuery,
    last4: Type.Optional(
      Type.String({
        pattern: '^\\d{4}$',
        maxLength: 4,
        description: 'Last four digits.',
        examples: ['1297'],
      }),
    ),
    account_id: AccountFilter,
    card_id: Type.Optional(Id('card', 'ID of the card to include.')),
    status: Type.Optional(EnumList(['active', 'frozen', 'cancelled'], 'Statuses to include.')),
    shipping_status: Type.Optional(
      EnumList(shipping_statuses, 'Shipping statuses to include. Physical cards only.'),
    ),
  }),
  output: Page(owned(Card)),
})

export const operator_freeze_card = operatorOperation({
  name: 'operator_freeze_card',
  method: 'POST',
  path: '/cards/{id}/freeze',
  role: 'support',
  summary: 'Freeze a card. The cardholder cannot unfreeze it.',
  input: Input({ id: CardId }),
  output: Card,
  problems: ['card_cancelled'],
})

export const operator_unfreeze_card = operatorOperation({
  name: 'operator_unfreeze_card',
  method: 'POST',
  path: '/cards/{id}/unfreeze',
  role: 'risk',
  summary: 'Unfreeze a card, including one the cardholder froze.',
  input: Input({ id: CardId }),
  output: Card,
  problems: ['card_not_frozen', 'card_cancelled'],
})

export const operator_cancel_card = operatorOperation({
  name: 'operator_cancel_card',
  method: 'POST',
  path: '/cards/{id}/cancel',
  role: 'risk',
  summary: 'Cancel a card permanently. Its available balance returns to the account.',
  input: Input({ id: CardId }),
  output: Card,
})

export const operator_set_card_shipping = operatorOperation({
  name: 'operator_set_card_shipping',
  method: 'POST',
  path: '/cards/{id}/shipping',
  role: 'support',
  summary: "Update a physical card's shipping status.",
  input: Input({
    id: CardId,
    status: StringEnum(shipping_statuses, { description: 'Shipping status.' }),
    carrier: Type.Optional(Type.String({ maxLength: 100, description: 'Carrier.' })),
    tracking_number: Type.Optional(
      Type.String({ maxLength: 100, description: 'Tracking number.' }),
    ),
    tracking_url: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^https://',
        description: 'Tracking page.',
        examples: ['https://parcels.example/1Z999'],
      }),
    ),
  }),
  output: Card,
})
