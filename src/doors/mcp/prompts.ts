import type { Method } from './exchange.ts'
import { INVALID_PARAMS, isObject, ProtocolError } from './protocol.ts'

type PromptArguments = Readonly<Record<string, string>>

type Prompt = {
  title: string
  description: string
  arguments: readonly { name: string; description: string; required: boolean }[]
  text(given: PromptArguments): string
}

/** Prompts for tasks that take several tools. */
const prompts: Readonly<Record<string, Prompt>> = {
  fund_and_issue_a_card: {
    title: 'Fund and issue a card',
    description: 'Top up if needed, then issue a loaded virtual card with an optional daily limit.',
    arguments: [
      { name: 'amount_usd', description: 'Amount to load onto the card.', required: true },
      {
        name: 'daily_limit_usd',
        description: 'Maximum the card can spend per day.',
        required: false,
      },
    ],
    text: ({ amount_usd, daily_limit_usd }) =>
      `Issue a virtual card loaded with ${amount_usd} USD. Steps:\n` +
      '1. get_limits: check that the amount is between load_min_usd and load_max_usd.\n' +
      `2. get_balance: if balance_usd is below ${amount_usd}, create_topup for the difference ` +
      '(at least topup_min_usd), show me the full deposit address with its asset, chain and ' +
      'expiry, and poll get_topup until it is completed.\n' +
      `3. issue_card with type virtual and load_usd ${amount_usd}` +
      (daily_limit_usd === undefined
        ? '.\n'
        : `, and limits.daily_usd ${daily_limit_usd} in the same call.\n`) +
      '4. Report the ID, last four digits, balance and limits of the card. Do not reveal its ' +
      'number unless I ask.\n' +
      'Send a new idempotency_key with every write. If a scope is missing, name it and ' +
      'why you need it before you request it.',
  },
  card_for_a_purchase: {
    title: 'Set up a card for a purchase',
    description: 'Issue a single-use card for one purchase, loaded with its price.',
    arguments: [
      { name: 'merchant', description: 'Where the purchase is made.', required: true },
      { name: 'amount_usd', description: 'Price, with shipping and taxes.', required: true },
    ],
    text: ({ merchant, amount_usd }) =>
      `Prepare a card for one purchase of ${amount_usd} USD at ${merchant}. Steps:\n` +
      '1. get_limits: check that the amount is between load_min_usd and load_max_usd, and read ' +
      'budget if it is set.\n' +
      '2. get_balance: if balance_usd is too low, say how much is missing and stop.\n' +
      `3. issue_card with type virtual, usage single_use, load_usd ${amount_usd}, ` +
      `limits.per_transaction_usd ${amount_usd} and a name that says what it is for.\n` +
      '4. If the call returns approval_required, give me approval.url, wait for my decision, ' +
      'then repeat exactly the same call once.\n' +
      '5. Report the ID and last four digits. The card is canceled after its first approved ' +
      'purchase; after it settles, unload_card returns what is left.',
  },
  reconcile_a_month: {
    title: 'Reconcile a month',
    description: 'Check that a monthly statement adds up, and explain where the money went.',
    arguments: [{ name: 'period', description: 'Month, such as 2026-11.', required: true }],
    text: ({ period }) =>
      `Reconcile ${period}. Steps:\n` +
      `1. list_statements: find period ${period}. Opening plus all kinds must equal closing_usd, ` +
      'and closing must be the opening of the next month.\n' +
      `2. get_spending for the days of ${period}, once with group_by category and once with ` +
      'merchant.\n' +
      `3. list_transactions of ${period} with status pending: holds are not spent yet.\n` +
      '4. List what is unusual: charges much larger than usual at the same merchant, two equal ' +
      'charges on one day, refunds that are missing.\n' +
      '5. Give me the totals in one table and your findings below it. Do not change anything.',
  },
  why_was_this_declined: {
    title: 'Why was this declined?',
    description: 'Find a declined purchase and explain why it was declined.',
    arguments: [
      { name: 'transaction_id', description: 'ID of the transaction, if known.', required: false },
      { name: 'merchant', description: 'Part of the merchant name.', required: false },
    ],
    text: ({ transaction_id, merchant }) =>
      'A purchase was declined. Find out why, and what would make it succeed.\n' +
      (transaction_id === undefined
        ? `1. list_transactions with type decline${
            merchant === undefined ? '' : ` and merchant ${merchant}`
          }, newest first; use the first match.\n`
        : `1. get_transaction ${transaction_id}.\n`) +
      '2. Read decline_code, decline_message and failed_rules, which lists every failed check.\n' +
      '3. get_card: compare its status, balance_usd, limits with amounts spent, mcc and geo with ' +
      'the purchase.\n' +
      '4. If the merchant disagrees, get_auth_details shows the ISO 8583 message.\n' +
      '5. State the cause in one sentence and the smallest change that would fix it. Do not ' +
      'change anything yourself.',
  },
}

export const listPrompts: Method = () =>
  JSON.stringify({
    prompts: Object.entries(prompts).map(([name, { text: _text, ...shown }]) => ({
      name,
      ...shown,
    })),
  })

/** Arguments are names, IDs and amounts, which are repeated in the prompt. */
const ARGUMENT_LENGTH_MAX = 1_000

export const getPrompt: Method = (_exchange, { name, arguments: given = {} }) => {
  const prompt = typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : null
  if (!prompt)
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${String(name).slice(0, 100)}.`)
  const text = prompt.text(argumentsOf(prompt, given))
  const messages = [{ role: 'user', content: { type: 'text', text } }]
  return JSON.stringify({ description: prompt.description, messages })
}

function argumentsOf(prompt: Prompt, given: unknown): PromptArguments {
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, 'arguments must be an object.')
  const taken: Record<string, string> = {}
  for (const { name, required } of prompt.arguments) {
    const value = given[name]
    if (typeof value === 'string' && value.length > ARGUMENT_LENGTH_MAX) {
      const sentence = `${name} must not have more than ${ARGUMENT_LENGTH_MAX} characters.`
      throw new ProtocolError(INVALID_PARAMS, sentence)
    }
    if (typeof value === 'string' && value !== '') taken[name] = value
    // Forms of clients send an empty string for an optional field that was left empty.
    else if (required || (value !== undefined && value !== '')) {
      throw new ProtocolError(INVALID_PARAMS, `${name} must be a non-empty string.`)
    }
  }
  return taken
}
