import type { OperationName } from '#contract/operations.ts'

type Result = Readonly<Record<string, unknown>>

/** A call of the scripted model, which may use the results of the calls before. */
type Step = {
  operation: OperationName
  input: object | ((results: readonly Result[]) => object)
}

export type AgentTask = { name: string; steps: readonly Step[] }

/** The first row of a list, which the model found by a name or as the newest. */
const firstId = ([list]: readonly Result[]): string => {
  const [row] = (list?.['data'] ?? []) as { id: string }[]
  if (row === undefined) throw new Error('the list is empty')
  return row.id
}

const firstCard = ([list]: readonly Result[]): string => {
  const [row] = (list?.['data'] ?? []) as { card_id: string }[]
  if (row === undefined) throw new Error('the list is empty')
  return row.card_id
}

const today = new Date().toISOString().slice(0, 10)
const month = { from: `${today.slice(0, 8)}01`, to: today }

const findCard = (name: string): Step => ({ operation: 'list_cards', input: { name } })

/** Ten everyday tasks. Both ways make the same calls, so the difference is what a model reads. */
export const agent_tasks: readonly AgentTask[] = [
  { name: 'check the balance', steps: [{ operation: 'get_balance', input: {} }] },
  {
    name: 'spending of the month by category',
    steps: [{ operation: 'get_spending', input: { ...month, group_by: 'category' } }],
  },
  {
    name: 'issue a single-use card with $25',
    steps: [
      {
        operation: 'issue_card',
        input: { type: 'virtual', name: 'Museum', usage: 'single_use', load_usd: 25 },
      },
    ],
  },
  {
    name: 'load $20 onto a named card',
    steps: [
      findCard('Groceries'),
      { operation: 'load_card', input: (got) => ({ id: firstId(got), amount_usd: 20 }) },
    ],
  },
  {
    name: 'freeze a lost card',
    steps: [
      findCard('Travel'),
      { operation: 'freeze_card', input: (got) => ({ id: firstId(got) }) },
    ],
  },
  {
    name: 'raise a daily limit',
    steps: [
      findCard('Groceries'),
      { operation: 'set_card_limits', input: (got) => ({ id: firstId(got), daily_usd: 150 }) },
    ],
  },
  {
    name: 'explain the last decline',
    steps: [
      { operation: 'list_transactions', input: { type: 'decline', limit: 1 } },
      { operation: 'get_card', input: (got) => ({ id: firstCard(got) }) },
    ],
  },
  {
    name: 'dispute the last purchase',
    steps: [
      { operation: 'list_transactions', input: { type: 'capture', limit: 1 } },
      {
        operation: 'file_dispute',
        input: (got) => ({
          transaction_id: firstId(got),
          reason: 'not_received',
          explanation: 'The order never arrived.',
        }),
      },
    ],
  },
  {
    name: 'ask for a deposit address for $100',
    steps: [
      { operation: 'get_limits', input: {} },
      { operation: 'create_topup', input: { amount_usd: 100 } },
    ],
  },
  {
    name: 'reconcile the month',
    steps: [
      { operation: 'list_statements', input: { limit: 1 } },
      { operation: 'get_spending', input: { ...month, group_by: 'merchant' } },
      { operation: 'list_transactions', input: { type: 'capture,refund', limit: 100 } },
    ],
  },
]
