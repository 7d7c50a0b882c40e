// An agent that answers declines: it loads cards that ran out of money, within its budget, and
// leaves limits and rules to the owner.
import { runAgent, scripted } from './agent.js'

function* answerDeclines() {
  const { data } = yield { tool: 'list_transactions', input: { type: 'decline' } }
  const report = []
  for (const { id } of data) {
    const decline = yield { tool: 'get_transaction', input: { id } }
    const shop = decline.merchant_name
    if (decline.decline_code !== 'insufficient_funds') {
      report.push(`${shop}: ${decline.decline_message} Left to the owner.`)
      continue
    }
    const loaded = yield {
      tool: 'load_card',
      input: { id: decline.card_id, amount_usd: decline.amount_usd },
    }
    if (loaded.error === 'approval_required') {
      report.push(`${shop}: asked the owner to load $${decline.amount_usd}.`)
    } else report.push(`${shop}: ${loaded.error ?? `loaded $${decline.amount_usd}`}.`)
  }
  return report.join('\n') || 'No declines.'
}

await runAgent({ task: 'Answer the declines', model: scripted(answerDeclines) })
