import Type, { type TObject } from 'typebox'
import { Id, Input, StringEnum } from '#contract/shapes.ts'

/** The groups of `florin sandbox`, and what each simulates. */
export const sandbox_nouns = {
  topups: 'Simulate deposits for a top-up, and its expiry.',
  cards: 'Simulate purchases with a card, and the shipping of a physical one.',
  transactions: 'Simulate captures, reversals, expiries and refunds of a purchase.',
  withdrawals: 'Simulate the transfer of a withdrawal.',
  disputes: "Simulate the merchant's response to a dispute, and its outcome.",
  clock: 'Move the time of the sandbox forward.',
} as const

type SandboxNoun = keyof typeof sandbox_nouns

/** One call of the sandbox API, run as `florin sandbox <noun> <verb>`. */
export type SandboxCall = {
  noun: SandboxNoun
  verb: string
  summary: string
  input: TObject
}

const topup = { id: Id('tup', 'The top-up.') }
const card = { id: Id('card', 'The card.') }
const transaction = { id: Id('txn', 'The transaction.') }
const withdrawal = { id: Id('wd', 'The withdrawal.') }
const dispute = { id: Id('dsp', 'The dispute.') }

const amount = (description: string) => Type.Number({ description, examples: [12.5] })
const optionalText = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

const purchase = Input({
  ...card,
  amount: amount("Purchase amount in the merchant's currency."),
  currency: optionalText('ISO 4217 currency code (default: USD).', 'EUR'),
  merchant_name: optionalText('Merchant name.', 'Corner Books'),
  mcc: optionalText('Merchant category code, four digits.', '5942'),
  merchant_country: optionalText('Merchant country, ISO 3166 alpha-2.', 'DE'),
  entry_mode: Type.Optional(
    StringEnum(['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file'], {
      description: 'How the card was read.',
    }),
  ),
  cvv: optionalText('Card security code, if the merchant sends one.', '123'),
  three_ds: Type.Optional(Type.Boolean({ description: 'Authenticate with 3-D Secure first.' })),
})

const partialAmount = (description: string) =>
  Input({ ...transaction, amount: Type.Optional(amount(`${description} (default: all).`)) })

const sandboxCall = (
  path: `${SandboxNoun}/${string}`,
  summary: string,
  input: TObject,
): SandboxCall => {
  const [noun, verb] = path.split('/') as [SandboxNoun, string]
  return { noun, verb, summary, input }
}

export const sandbox_calls: readonly SandboxCall[] = [
  sandboxCall(
    'topups/deposit',
    'Send a deposit on the chain.',
    Input({
      ...topup,
      amount_usd: amount('Amount of the deposit.'),
      from: optionalText('Sender address.', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'),
    }),
  ),
  sandboxCall('topups/confirm', 'Confirm the deposits on the chain.', Input(topup)),
  sandboxCall('topups/expire', 'Expire the top-up now.', Input(topup)),
  sandboxCall(
    'topups/reorg',
    'Reorganize the chain and drop the blocks of a deposit.',
    Input(topup),
  ),
  sandboxCall(
    'cards/authorize',
    'Make a purchase: sends an authorization to the card host.',
    purchase,
  ),
  sandboxCall('cards/force_capture', 'Capture without an authorization (force post).', purchase),
  sandboxCall(
    'cards/shipping',
    'Update the shipping status of a physical card.',
    Input({
      ...card,
      status: StringEnum(['submitted', 'shipped', 'delivered', 'returned', 'failed'], {
        description: 'New shipping status.',
      }),
    }),
  ),
  sandboxCall(
    'transactions/capture',
    'Capture the held amount.',
    partialAmount('Amount to capture'),
  ),
  sandboxCall(
    'transactions/reverse',
    'Reverse the authorization.',
    partialAmount('Amount to release'),
  ),
  sandboxCall('transactions/expire', 'Expire the hold.', Input(transaction)),
  sandboxCall('transactions/refund', 'Refund the purchase.', partialAmount('Amount to refund')),
  sandboxCall(
    'withdrawals/confirm',
    'Send the withdrawal and confirm it on the chain.',
    Input(withdrawal),
  ),
  sandboxCall('withdrawals/fail', 'Make the transfer fail on the chain.', Input(withdrawal)),
  sandboxCall(
    'disputes/answer',
    "Add the merchant's response.",
    Input({
      ...dispute,
      text: Type.String({ description: 'Text of the response.', examples: ['No.'] }),
    }),
  ),
  sandboxCall(
    'disputes/close',
    'Close the dispute with an outcome.',
    Input({
      ...dispute,
      outcome: StringEnum(['won', 'lost'], { description: 'Outcome for the cardholder.' }),
    }),
  ),
  sandboxCall(
    'clock/advance',
    'Move the clock of the service forward.',
    Input({ seconds: Type.Number({ description: 'Seconds to advance.', examples: [3600] }) }),
  ),
]
