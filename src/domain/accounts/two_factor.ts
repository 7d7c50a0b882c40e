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
import { consumeRecoveryCode, consumeTotpStep, findAccount } from './account_store.ts'

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
 * Counts a guess and consumes the code in a transaction of its own, before that of the call: a code
 * works once even if the call is refused for another reason, and only wrong codes count.
 */
export async function consumeCode(
  { db, keys, clock, now }: Pick<PreparingContext, 'db' | 'keys' | 'clock' | 'now'>,
  account: AccountRow,
  { totp_code, subject = `totp|${account.id}` }: { totp_code: string; subject?: string },
): Promise<void> {
  await requireGuessLeft({ tx: db, keys, subject, now })
  await db.transaction(async (tx) => {
    await requireTotpCode({ tx, keys, clock }, account, totp_code)
    await clearGuesses({ tx, keys, subject })
  })
}

/**
 * A session may be a browser left open, so with two-factor authentication it must send a code for
 * sensitive calls; keys and tokens need none. Call it last in the preparation. Returns true if a
 * code was consumed.
 */
export async function requireSessionCode(
  context: PreparingContext,
  totp_code: string | undefined,
): Promise<boolean> {
  const { db, caller } = context
  if (caller.kind !== 'session') return false
  const account = await findAccount(db, caller.account_id)
  if (account.totp_status !== 'enabled') return false
  if (totp_code === undefined) throw totpRequired()
  await consumeCode(context, account, { totp_code })
  return true
}
