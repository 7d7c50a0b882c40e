import Type from 'typebox'
import { Card } from '#contract/cards.ts'
import { EnumList, Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { operatorCall } from './operator_call.ts'
import { AccountFilter, AdministeredAccount, limitChanges, owned, RateProfile } from './shapes.ts'

const shipping_statuses = [
  'pending',
  'submitted',
  'shipped',
  'delivered',
  'returned',
  'failed',
  'cancelled',
] as const
const ofCard = Input({ id: Id('card', 'The card.') })
const ofAccount = Input({ id: Id('acct', 'The account.') })

/** Accounts and their cards. */
export const holder_calls = {
  find_cards: operatorCall({
    name: 'find_cards',
    method: 'GET',
    path: '/cards',
    role: 'viewer',
    summary: 'Cards of all accounts, by their last digits or by where they are in the post.',
    input: Input({
      ...pageQuery,
      last4: Type.Optional(
        Type.String({ pattern: '^\\d{4}$', maxLength: 4, description: 'The last digits.' }),
      ),
      account_id: AccountFilter,
      status: Type.Optional(EnumList(['active', 'frozen', 'cancelled'], 'Only in these states.')),
      shipping_status: Type.Optional(EnumList(shipping_statuses, 'Only physical ones, so far.')),
    }),
    output: Page(owned(Card)),
  }),
  freeze_card: operatorCall({
    name: 'freeze_card',
    method: 'POST',
    path: '/cards/{id}/freeze',
    role: 'support',
    summary: 'Freeze a card; its holder cannot unfreeze it.',
    input: ofCard,
    output: Card,
    problems: ['card_cancelled'],
  }),
  unfreeze_card: operatorCall({
    name: 'unfreeze_card',
    method: 'POST',
    path: '/cards/{id}/unfreeze',
    role: 'risk',
    summary: 'Unfreeze a card, whoever froze it.',
    input: ofCard,
    output: Card,
    problems: ['card_not_frozen', 'card_cancelled'],
  }),
  cancel_card: operatorCall({
    name: 'cancel_card',
    method: 'POST',
    path: '/cards/{id}/cancel',
    role: 'risk',
    summary: 'End a card for good; what is spendable goes back to its balance.',
    input: ofCard,
    output: Card,
  }),
  ship_card: operatorCall({
    name: 'ship_card',
    method: 'POST',
    path: '/cards/{id}/shipping',
    role: 'support',
    summary: 'Tell how far a physical card has come.',
    input: Input({
      ...ofCard.properties,
      status: StringEnum(shipping_statuses, { description: 'How far it has come.' }),
      carrier: Type.Optional(Type.String({ maxLength: 100, description: 'Who carries it.' })),
      tracking_number: Type.Optional(Type.String({ maxLength: 100, description: 'Its number.' })),
      tracking_url: Type.Optional(
        Type.String({ maxLength: 500, pattern: '^https://', description: 'Where to follow it.' }),
      ),
    }),
    output: Card,
  }),
  find_accounts: operatorCall({
    name: 'find_accounts',
    method: 'GET',
    path: '/accounts',
    role: 'viewer',
    summary: 'Accounts, by their e-mail.',
    input: Input({
      ...pageQuery,
      email: Type.Optional(Type.String({ maxLength: 254, description: 'The whole address.' })),
      status: Type.Optional(StringEnum(['active', 'suspended'], { description: 'Only those.' })),
    }),
    output: Page(AdministeredAccount),
  }),
  get_account: operatorCall({
    name: 'get_account',
    method: 'GET',
    path: '/accounts/{id}',
    role: 'viewer',
    summary: 'One account, with what was set for it.',
    input: ofAccount,
    output: AdministeredAccount,
  }),
  suspend_account: operatorCall({
    name: 'suspend_account',
    method: 'POST',
    path: '/accounts/{id}/suspend',
    role: 'risk',
    summary: 'Stop an account: no bearer of it works and no card of it pays.',
    input: ofAccount,
    output: AdministeredAccount,
  }),
  reinstate_account: operatorCall({
    name: 'reinstate_account',
    method: 'POST',
    path: '/accounts/{id}/reinstate',
    role: 'risk',
    summary: 'Let a suspended account go on.',
    input: ofAccount,
    output: AdministeredAccount,
  }),
  set_account_limits: operatorCall({
    name: 'set_account_limits',
    method: 'PATCH',
    path: '/accounts/{id}/limits',
    role: 'risk',
    summary: 'Set spend limits and the rate profile of one account.',
    input: Input({
      ...ofAccount.properties,
      rate_profile: Type.Optional(RateProfile),
      ...limitChanges,
    }),
    output: AdministeredAccount,
  }),
} as const
