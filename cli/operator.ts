import { Problem } from '#contract/problem.ts'
import {
  createOperator,
  listOperators,
  type OperatorTokenRow,
  resetOperatorTotp,
  revokeOperator,
} from '#main/operators.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'
import { withDatabase } from './with_database.ts'

/** Prints only the token to stdout, so it can be piped into a password manager. */
export async function operatorCreate(
  name: string,
  { role, totp = false }: { role: string; totp?: boolean },
): Promise<void> {
  const settings = readSettings(process.env)
  const { id, token, totp_uri } = await withDatabase(async (db) => {
    await migrate(db)
    return createOperator(db, settings, { name, role, totp })
  }).catch((cause: unknown) => {
    throw cause instanceof Problem ? new ConfigError(cause.message) : cause
  })
  const days = settings.operator_token_days
  if (totp_uri !== null) {
    process.stderr.write(`Add this to an authenticator app. It is shown only once:\n${totp_uri}\n`)
  }
  process.stderr.write(
    `${id}: ${name}, ${role}, valid for ${days} days. The token is shown only once:\n`,
  )
  process.stdout.write(`${token}\n`)
}

export async function operatorList({ json }: { json?: boolean }): Promise<void> {
  const tokens = await withDatabase((db) => listOperators(db))
  const text = json ? JSON.stringify(tokens, null, 2) : tokens.map(formatToken).join('\n')
  process.stdout.write(`${text === '' ? 'No operator tokens.' : text}\n`)
}

export async function operatorRevoke(id_or_name: string): Promise<void> {
  const isRevoked = await withDatabase((db) => revokeOperator(db, id_or_name))
  if (isRevoked) return void process.stdout.write(`Revoked ${id_or_name}.\n`)
  process.stderr.write(`There is no active operator token "${id_or_name}".\n`)
  process.exitCode = 1
}

export async function operatorTotp(id_or_name: string): Promise<void> {
  const settings = readSettings(process.env)
  const uri = await withDatabase((db) => resetOperatorTotp(db, settings, id_or_name))
  if (uri !== null) {
    process.stderr.write('Add this to an authenticator app. It is shown only once:\n')
    return void process.stdout.write(`${uri}\n`)
  }
  process.stderr.write(`There is no active operator token "${id_or_name}".\n`)
  process.exitCode = 1
}

function formatToken(row: OperatorTokenRow): string {
  const { id, name, role, last_used_at, expires_at, revoked_at } = row
  const isExpired = expires_at <= new Date()
  const state = revoked_at !== null ? 'revoked' : isExpired ? 'expired' : 'active'
  const used = last_used_at === null ? 'never used' : `used ${last_used_at.toISOString()}`
  return `${id}  ${state}  ${role.padEnd(7)}  ${name}  ${used}  until ${expires_at.toISOString()}`
}
