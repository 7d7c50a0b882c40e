import { type Grant, listGrants, revokeGrantById } from '#main/grants.ts'
import { withEachCell } from './with_database.ts'

type ListOptions = { account?: string; json?: boolean }

export async function grantsList({ account, json }: ListOptions): Promise<void> {
  const of_cells = await withEachCell((db) => listGrants(db, account ?? null))
  const grants = of_cells.flatMap(({ value }) => value)
  const text = json ? JSON.stringify(grants, null, 2) : grants.map(formatGrant).join('\n')
  process.stdout.write(`${text === '' ? 'No grants.' : text}\n`)
}

export async function grantsRevoke(id: string): Promise<void> {
  const of_cells = await withEachCell((db) => revokeGrantById(db, id))
  const grant = of_cells.map(({ value }) => value).find((found) => found !== undefined)
  if (grant === undefined) {
    process.stderr.write(`There is no grant ${id}.\n`)
    process.exitCode = 1
    return
  }
  process.stdout.write(`${formatGrant(grant)}\n`)
}

function formatGrant({ id, account_id, client_name, status, scopes, card_ids }: Grant): string {
  const cards = card_ids === null ? 'all cards' : card_ids.join(', ')
  return `${id}  ${status}  ${account_id}  ${client_name ?? '-'}  ${scopes.join(' ')}  ${cards}`
}
