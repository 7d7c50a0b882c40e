import { totpRequired } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Context, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft } from '#domain/credentials/guesses.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { sealedColumn } from '#platform/storage/sealed_column.ts'
import type { AccountRow } from './account.ts'
import { findAccount, lockAccount, useUpRecoveryCode, useUpTotpStep } from './account_store.ts'
import { foldRecoveryCode, totpStepOf } from './totp.ts'

type Seal = Pick<Context, 'keys'>
type Check = Pick<Context, 'keys' | 'clock'> & { tx: Tx }

const TOTP_PURPOSE = 'totp'
export const ACCOUNT_TOTP_SECRETS = sealedColumn('accounts', 'totp_secret_sealed', TOTP_PURPOSE)

export function sealTotpSecret({ keys }: Seal, account_id: string, secret: string): string {
  return keys.seal(TOTP_PURPOSE, account_id, secret)
}

export function openTotpSecret({ keys }: Seal, account: AccountRow): string {
  if (account.totp_secret_sealed === null) throw new Error('the account has no TOTP secret')
  return keys.open(TOTP_PURPOSE, account.id, account.totp_secret_sealed)
}

export function recoveryCodeHash({ keys }: Seal, account_id: string, code: string): string {
  return keys.credentialHash('recovery_code', `${account_id}|${foldRecoveryCode(code)}`)
}

function recoveryCodeHashes({ keys }: Seal, account_id: string, code: string): string[] {
  return keys.credentialHashes('recovery_code', `${account_id}|${foldRecoveryCode(code)}`)
}

export const totpInvalid = () =>
  new Problem('totp_invalid', 'The code is incorrect or was already used. Wait for the next one.')

/** Uses the code up: an authenticator code for its time step, or a recovery code for good. */
export async function requireTotpCode(
  check: Check,
  account: AccountRow,
  code: string,
): Promise<void> {
  const step = totpStepOf(openTotpSecret(check, account), code, check.clock.wall())
  const isRight =
    step !== null
      ? await useUpTotpStep(check.tx, account.id, step)
      : await useUpRecoveryCode(check.tx, account.id, recoveryCodeHashes(check, account.id, code))
  if (!isRight) throw totpInvalid()
}

/**
 * Before the transaction: a session may be a browser that was left open, so with two-factor on it
 * must send a code again. Keys and tokens have none. True where useUpSessionCode must follow.
 */
export async function requireSessionCode(
  { db, keys, caller, now }: PreparingContext,
  totp_code: string | undefined,
): Promise<boolean> {
  const { account_id } = caller
  if (caller.kind !== 'session') return false
  if ((await findAccount(db, account_id)).totp_status !== 'enabled') return false
  if (totp_code === undefined) {
    throw totpRequired()
  }
  await requireGuessLeft({ tx: db, keys, subject: `totp|${account_id}`, now })
  return true
}

export async function useUpSessionCode(
  check: Check,
  account_id: string,
  totp_code: string,
): Promise<void> {
  const account = await lockAccount(check.tx, account_id)
  if (account.totp_status !== 'enabled') return
  await requireTotpCode(check, account, totp_code)
  await clearGuesses({ ...check, subject: `totp|${account_id}` })
}
