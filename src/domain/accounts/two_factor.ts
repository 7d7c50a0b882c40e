import { totpRequired } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft } from '#domain/credentials/guesses.ts'
import { normalizeRecoveryCode, totpStepOf } from '#domain/credentials/totp.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { sealedColumn } from '#platform/storage/sealed_column.ts'
import type { AccountRow } from './account.ts'
import { consumeRecoveryCode, consumeTotpStep, findAccount, lockAccount } from './account_store.ts'

type TotpContext = { tx: Tx; keys: Keys; clock: Clock }

const TOTP_PURPOSE = 'totp'
export const ACCOUNT_TOTP_SECRETS = sealedColumn('accounts', 'totp_secret_sealed', TOTP_PURPOSE)

export function sealTotpSecret(keys: Keys, account_id: string, secret: string): string {
  return keys.seal(TOTP_PURPOSE, account_id, secret)
}

export function openTotpSecret(keys: Keys, account: AccountRow): string {
  if (account.totp_secret_sealed === null) throw new Error('the account has no TOTP secret')
  return keys.open(TOTP_PURPOSE, account.id, account.totp_secret_sealed)
}

export function recoveryCodeHash(keys: Keys, account_id: string, code: string): string {
  return keys.credentialHash('recovery_code', `${account_id}|${normalizeRecoveryCode(code)}`)
}

function recoveryCodeHashes(keys: Keys, account_id: string, code: string): string[] {
  return keys.credentialHashes('recovery_code', `${account_id}|${normalizeRecoveryCode(code)}`)
}

export const totpInvalid = () =>
  new Problem('totp_invalid', 'The code is incorrect or was already used. Wait for the next one.')

/** Consumes an authenticator code or a recovery code. Each works once. */
export async function requireTotpCode(
  { tx, keys, clock }: TotpContext,
  account: AccountRow,
  code: string,
): Promise<void> {
  const step = totpStepOf(openTotpSecret(keys, account), code, clock.wall())
  const isValid =
    step !== null
      ? await consumeTotpStep(tx, account.id, step)
      : await consumeRecoveryCode(tx, account.id, recoveryCodeHashes(keys, account.id, code))
  if (!isValid) throw totpInvalid()
}

/**
 * A session may be a browser left open, so with two-factor authentication it must send a code for
 * sensitive calls; keys and tokens need none. Call it before the transaction. Returns true if
 * consumeSessionCode must follow inside the transaction.
 */
export async function requireSessionCode(
  { db, keys, caller, now }: PreparingContext,
  totp_code: string | undefined,
): Promise<boolean> {
  const { account_id } = caller
  if (caller.kind !== 'session') return false
  if ((await findAccount(db, account_id)).totp_status !== 'enabled') return false
  if (totp_code === undefined) throw totpRequired()
  await requireGuessLeft({ tx: db, keys, subject: `totp|${account_id}`, now })
  return true
}

export async function consumeSessionCode(
  context: TotpContext,
  account_id: string,
  totp_code: string,
): Promise<void> {
  const account = await lockAccount(context.tx, account_id)
  if (account.totp_status !== 'enabled') return
  await requireTotpCode(context, account, totp_code)
  await clearGuesses({ ...context, subject: `totp|${account_id}` })
}
