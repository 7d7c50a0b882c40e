import type { Method } from './exchange.ts'
import { INVALID_PARAMS, isObject, ProtocolError } from './protocol.ts'

type Given = Readonly<Record<string, string>>

type Prompt = {
  title: string
  description: string
  arguments: readonly { name: string; description: string; required: boolean }[]
  text(given: Given): string
}

/** Ways of going about things that take several tools, written down once. */
const prompts: Readonly<Record<string, Prompt>> = {
  fund_and_issue_a_card: {
    title: 'Fund and issue a card',
    description: 'From a deposit to a card that is ready to pay, held to a daily limit.',
    arguments: [
      { name: 'amount_usd', description: 'How much the card is to hold.', required: true },
      { name: 'daily_limit_usd', description: 'The most it may spend per day.', required: false },
    ],
    text: ({ amount_usd, daily_limit_usd }) =>
      `Issue a virtual card that holds ${amount_usd} USD. Step by step:\n` +
      '1. get_limits: check that the amount lies within load_min_usd and load_max_usd.\n' +
      `2. get_balance: if balance_usd is below ${amount_usd}, create_topup for the difference ` +
      '(at least topup_min_usd), show me the deposit address in full with its asset, chain and ' +
      'expiry, and wait; read get_topup now and then until it is completed.\n' +
      `3. issue_card with type virtual and load_usd ${amount_usd}` +
      (daily_limit_usd === undefined
        ? '.\n'
        : `, and limits.daily_usd ${daily_limit_usd} in the same call.\n`) +
      '4. Tell me the id, last four digits, balance and limits of the card. Do not reveal its ' +
      'number unless I ask.\n' +
      'Give each write an idempotency_key of its own. If a scope is missing, say which, and why ' +
      'you need it, before asking for it.',
  },
  why_was_this_declined: {
    title: 'Why was this declined?',
    description: 'Finds a declined purchase and says in plain words what stopped it.',
    arguments: [
      { name: 'transaction_id', description: 'The transaction, if known.', required: false },
      { name: 'merchant', description: 'Part of the name of the shop.', required: false },
    ],
    text: ({ transaction_id, merchant }) =>
      'A purchase was declined. Find out why, and what would let it pass.\n' +
      (transaction_id === undefined
        ? `1. list_transactions with type decline${
            merchant === undefined ? '' : ` and merchant ${merchant}`
          }, newest first; take the first that fits.\n`
        : `1. get_transaction ${transaction_id}.\n`) +
      '2. Read decline_code, decline_message and failed_rules: all the checks that failed, not ' +
      'only the first.\n' +
      '3. get_card: compare its status, balance_usd, limits and what is spent of them, mcc and ' +
      'geo with the purchase.\n' +
      '4. If the shop says something else, get_auth_details shows the message itself.\n' +
      '5. Tell me the cause in one sentence and the smallest change that would let it pass. ' +
      'Change nothing yourself.',
  },
}

export const listPrompts: Method = () =>
  JSON.stringify({
    prompts: Object.entries(prompts).map(([name, { text: _text, ...shown }]) => ({
      name,
      ...shown,
    })),
  })

/** They are names, ids and amounts, repeated in the prompt. */
const ARGUMENT_LENGTH_MAX = 1_000

export const getPrompt: Method = (_exchange, { name, arguments: given = {} }) => {
  const prompt = typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : null
  if (!prompt)
    throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${String(name).slice(0, 100)}.`)
  const text = prompt.text(argumentsOf(prompt, given))
  const messages = [{ role: 'user', content: { type: 'text', text } }]
  return JSON.stringify({ description: prompt.description, messages })
}

function argumentsOf(prompt: Prompt, given: unknown): Given {
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, 'arguments must be an object.')
  const taken: Record<string, string> = {}
  for (const { name, required } of prompt.arguments) {
    const value = given[name]
    if (typeof value === 'string' && value.length > ARGUMENT_LENGTH_MAX) {
      const sentence = `${name} must not have more than ${ARGUMENT_LENGTH_MAX} characters.`
      throw new ProtocolError(INVALID_PARAMS, sentence)
    }
    if (typeof value === 'string' && value !== '') taken[name] = value
    else if (value !== undefined || required) {
      throw new ProtocolError(INVALID_PARAMS, `${name} must be a string that is not empty.`)
    }
  }
  return taken
}
