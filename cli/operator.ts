import { Problem } from '#contract/problem.ts'
import {
  createOperator,
  listOperators,
  type OperatorTokenRow,
  revokeOperator,
} from '#main/operators.ts'
import { ConfigError, readSettings } from '#platform/config.ts'
import { migrate } from '#platform/migrate.ts'
import { withDatabase } from './with_database.ts'

/** The token goes to standard output alone, so that it can be piped into a safe. */
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
    process.stderr.write(`Add this to an authenticator app; it is shown only once:\n${totp_uri}\n`)
  }
  process.stderr.write(`${id}: ${name}, ${role}, for ${days} days. It is shown only once:\n`)
  process.stdout.write(`${token}\n`)
}

export async function operatorList({ json }: { json?: boolean }): Promise<void> {
  const tokens = await withDatabase(listOperators)
  const text = json ? JSON.stringify(tokens, null, 2) : tokens.map(lineOf).join('\n')
  process.stdout.write(`${text === '' ? 'There are no operator tokens.' : text}\n`)
}

export async function operatorRevoke(which: string): Promise<void> {
  const isRevoked = await withDatabase((db) => revokeOperator(db, which))
  if (isRevoked) return void process.stdout.write(`${which} is revoked.\n`)
  process.stderr.write(`There is no operator token ${which} that is not revoked.\n`)
  process.exitCode = 1
}

function lineOf(row: OperatorTokenRow): string {
  const { id, name, role, last_used_at, expires_at, revoked_at } = row
  const isOver = expires_at <= new Date()
  const state = revoked_at !== null ? 'revoked' : isOver ? 'expired' : 'active'
  const used = last_used_at === null ? 'never used' : `used ${last_used_at.toISOString()}`
  return `${id}  ${state}  ${role.padEnd(7)}  ${name}  ${used}  until ${expires_at.toISOString()}`
}
