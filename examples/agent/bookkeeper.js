// A bookkeeper with a read-only grant: it compares the spending report of the month with the
// purchases themselves. Its token has no tool that moves money.
import { runAgent, scripted } from './agent.js'

const today = new Date().toISOString().slice(0, 10)
const first = `${today.slice(0, 8)}01`
const usd = (amount) => `$${amount.toFixed(2)}`

function* reconcile({ tools }) {
  const report = yield {
    tool: 'get_spending',
    input: { from: first, to: today, group_by: 'category' },
  }
  const captures = []
  for (let cursor; ; ) {
    const page = yield {
      tool: 'list_transactions',
      input: { type: 'capture', created_gte: `${first}T00:00:00Z`, ...(cursor && { cursor }) },
    }
    captures.push(...page.data)
    if (!page.has_more) break
    cursor = page.next_cursor
  }
  const sum_usd = captures.reduce((sum, { amount_usd }) => sum + amount_usd, 0)
  const rows = report.data.map(({ label, net_usd }) => `  ${label}: ${usd(net_usd)}`)
  const [sum, total] = [usd(sum_usd), usd(report.total_usd)]
  const verdict = sum === total ? 'agree' : 'DIFFER'
  const canMove = tools.some(({ name }) => name === 'load_card')
  return [
    ...rows,
    `${captures.length} purchases of ${sum} and the report of ${total} ${verdict}.`,
    `It ${canMove ? 'can' : 'cannot'} move money.`,
  ].join('\n')
}

await runAgent({ task: 'Reconcile this month', model: scripted(reconcile) })
