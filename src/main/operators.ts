import { type OperatorRole, operator_roles } from '#contract/operator/roles.ts'
import { generateTotpSecret, totpUri } from '#domain/credentials/totp.ts'
import {
  createOperatorToken,
  findOperatorTokens,
  type OperatorTokenRow,
  revokeOperatorToken,
  setOperatorTotp,
} from '#domain/operators/operator_token.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { type Keys, loadKeys } from '#platform/storage/keys.ts'
import type { Settings } from '#settings/settings.ts'

export type { OperatorTokenRow }

/** For commands outside the service. */
export async function createOperator(
  db: Database,
  settings: Settings,
  input: { name: string; role: string; totp: boolean },
): Promise<{ id: string; token: string; totp_uri: string | null }> {
  const role = operator_roles.find((one) => one === input.role)
  if (role === undefined)
    throw new ConfigError(`A role must be one of ${operator_roles.join(', ')}.`)
  const keys = await keysOf(settings)
  const totp_secret = input.totp ? generateTotpSecret(systemRandom) : null
  const { id, token } = await createOperatorToken(
    db,
    { name: input.name, role: role satisfies OperatorRole },
    {
      random: systemRandom,
      keys,
      now: systemClock().now(),
      livemode: settings.mode === 'live',
      days: settings.operator_token_days,
      totp_secret,
    },
  )
  const totp_uri = totp_secret === null ? null : totpUri(totp_secret, `operator ${input.name}`)
  return { id, token: token.open(), totp_uri }
}

function keysOf({ key_token, key_file }: Settings): Promise<Keys> {
  return loadKeys(key_file, systemRandom, sealFor(key_token, systemRandom))
}

/** The otpauth URI of a new TOTP secret for a token; null if there is no such token. */
export async function resetOperatorTotp(
  db: Database,
  settings: Settings,
  which: string,
): Promise<string | null> {
  const totp_secret = generateTotpSecret(systemRandom)
  const secret = { keys: await keysOf(settings), now: systemClock().now(), totp_secret }
  const row = await db.transaction((tx) => setOperatorTotp(tx, which, secret))
  return row === null ? null : totpUri(totp_secret, `operator ${row.name}`)
}

export const listOperators = findOperatorTokens

export function revokeOperator(db: Database, which: string): Promise<boolean> {
  return revokeOperatorToken(db, which, systemClock().now())
}
