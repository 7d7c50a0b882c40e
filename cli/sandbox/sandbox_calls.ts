import Type, { type TObject } from 'typebox'
import { Id, Input, OneOf } from '#contract/shapes.ts'

/** A lever of the sandbox: `florin sandbox <noun> <verb>`, as its path says. */
export type SandboxCall = {
  noun: string
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
const words = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

const purchase = Input({
  ...card,
  amount: amount("What the shop asks for, in the shop's currency."),
  currency: words('Three letters; USD where nothing is said.', 'EUR'),
  merchant_name: words('The shop.', 'Corner Books'),
  mcc: words('What it sells: four digits.', '5942'),
  merchant_country: words('Where it is: two capital letters.', 'DE'),
  entry_mode: Type.Optional(
    OneOf(['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file'], {
      description: 'How the card was read.',
    }),
  ),
  cvv: words('The security code, where the shop asks for it.', '123'),
  three_ds: Type.Optional(Type.Boolean({ description: 'Ask the holder first, by 3-D Secure.' })),
})

const part = (what: string) =>
  Input({ ...transaction, amount: Type.Optional(amount(`${what} All that is left without it.`)) })

const lever = (path: string, summary: string, input: TObject): SandboxCall => {
  const [noun = '', verb = ''] = path.split('/')
  return { noun, verb, summary, input }
}

export const sandbox_calls: readonly SandboxCall[] = [
  lever(
    'topups/deposit',
    'Let a transfer arrive on the chain.',
    Input({
      ...topup,
      amount_usd: amount('What arrives.'),
      from: words('The address it comes from.', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'),
    }),
  ),
  lever('topups/confirm', 'Let what has arrived become final.', Input(topup)),
  lever('topups/expire', 'Close the window now.', Input(topup)),
  lever('topups/reorg', 'Take back the blocks that a transfer stands in.', Input(topup)),
  lever('cards/authorize', 'Pay in a shop: a real message to the card host.', purchase),
  lever('cards/force_capture', 'Take money without having asked.', purchase),
  lever(
    'cards/shipping',
    'Move the parcel on.',
    Input({
      ...card,
      status: OneOf(['submitted', 'shipped', 'delivered', 'returned', 'failed'], {
        description: 'How far it has come.',
      }),
    }),
  ),
  lever('transactions/capture', 'Let the shop take what is held.', part('How much.')),
  lever('transactions/reverse', 'Let the shop give up what is held.', part('How much.')),
  lever('transactions/expire', 'Let the hold run out.', Input(transaction)),
  lever('transactions/refund', 'Let the shop pay back.', part('How much.')),
  lever('withdrawals/confirm', 'Let it be sent and become final.', Input(withdrawal)),
  lever('withdrawals/fail', 'Let the transfer fail on the chain.', Input(withdrawal)),
  lever(
    'disputes/answer',
    'Let the other side answer.',
    Input({ ...dispute, text: Type.String({ description: 'What it says.', examples: ['No.'] }) }),
  ),
  lever(
    'disputes/close',
    'Decide it.',
    Input({ ...dispute, outcome: OneOf(['won', 'lost'], { description: 'For whom.' }) }),
  ),
  lever(
    'clock/advance',
    'Move every clock of the service forward.',
    Input({ seconds: Type.Number({ description: 'How far.', examples: [3600] }) }),
  ),
]
