import assert from 'node:assert/strict'
import { ACCOUNT_CELL } from './account_cell.ts'
import { startAgentService } from './agent.ts'
import { approvalIn, decide, grantBudget, loadCard, unloadCard } from './budgets.ts'
import { issueCard, openHolder } from './cards.ts'
import { sharedTemplate } from './database.ts'

/** A database in which an agent used its budget, gave some back, and needed an approval. */
export const budgetBooks = (): Promise<string> =>
  sharedTemplate(`budget_books_${ACCOUNT_CELL}`, fill)

async function fill(database_url: string): Promise<void> {
  const service = await startAgentService({ database_url })
  const { url } = service
  const holder = await openHolder(service, 500)
  const { id } = await issueCard(url, holder.key)
  const { token } = await grantBudget(url, holder, { amount_usd: 20 })
  const load = (usd: number) => loadCard(url, token, { id, usd })
  assert.equal((await load(15)).status, 200)
  assert.equal((await unloadCard(url, token, { id, usd: 5 })).status, 200)
  approvalIn(await load(90))
  await decide(url, holder.bearer, { id: approvalIn(await load(60)).id })
  assert.equal((await load(60)).status, 200)
  await service.stop()
}
