import { type Grant, listGrants, revokeGrantById } from '#main/grants.ts'
import { withDatabase } from './with_database.ts'

type ListOptions = { account?: string; json?: boolean }

export async function grantsList({ account, json }: ListOptions): Promise<void> {
  const grants = await withDatabase((db) => listGrants(db, account ?? null))
  const text = json ? JSON.stringify(grants, null, 2) : grants.map(formatGrant).join('\n')
  process.stdout.write(`${text === '' ? 'No grants.' : text}\n`)
}

export async function grantsRevoke(id: string): Promise<void> {
  const grant = await withDatabase((db) => revokeGrantById(db, id))
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
