import { Problem } from '#contract/problem.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft } from '#domain/credentials/guesses.ts'
import {
  generateRecoveryCodes,
  generateTotpSecret,
  totpStepOf,
  totpUri,
} from '#domain/credentials/totp.ts'
import type { AccountRow } from './account.ts'
import {
  consumeTotpStep,
  findAccount,
  lockAccount,
  replaceRecoveryCodes,
  resetTotpStep,
  updateTotp,
} from './account_store.ts'
import { requireUnrevoked } from './recheck_caller.ts'
import { openTotpSecret, recoveryCodeHash, sealTotpSecret, totpInvalid } from './two_factor.ts'

export const enable2fa: Handler<'enable_2fa'> = {
  prepare: async ({ db, keys, caller, now }, { totp_code }) => {
    // Counted outside the transaction, because a refused code must still count. A code that is not
    // checked does not.
    if (totp_code !== undefined) {
      requirePending(await findAccount(db, caller.account_id))
      await requireGuessLeft({ tx: db, keys, subject: `totp|${caller.account_id}`, now })
    }
    return async (context) => {
      const account = await lockAccount(context.tx, context.caller.account_id)
      await requireUnrevoked(context)
      requireNotEnabled(account)
      return totp_code === undefined
        ? startSetup(context, account)
        : confirmSetup(context, account, totp_code)
    }
  },
}

function requireNotEnabled({ totp_status }: AccountRow): void {
  if (totp_status !== 'enabled') return
  throw new Problem('totp_already_enabled', 'Two-factor authentication is already on.')
}

function requirePending(account: AccountRow): void {
  requireNotEnabled(account)
  if (account.totp_status === 'pending') return
  throw new Problem('totp_not_enabled', 'Call this without a body first to get a secret.')
}

/** A second call before the confirmation replaces the secret: the first may have leaked. */
async function startSetup(context: Context, account: AccountRow) {
  const secret = generateTotpSecret(context.random)
  await resetTotpStep(context.tx, account.id)
  await updateTotp(context.tx, {
    id: account.id,
    totp_status: 'pending',
    totp_secret_sealed: sealTotpSecret(context.keys, account.id, secret),
    now: context.now,
  })
  return { status: 'pending' as const, secret, uri: totpUri(secret, account.email) }
}

async function confirmSetup(context: Context, account: AccountRow, code: string) {
  const { tx } = context
  requirePending(account)
  const step = totpStepOf(openTotpSecret(context.keys, account), code, context.clock.wall())
  if (step === null || !(await consumeTotpStep(tx, account.id, step))) throw totpInvalid()
  await clearGuesses({ tx, keys: context.keys, subject: `totp|${account.id}` })

  await updateTotp(tx, { ...account, totp_status: 'enabled', now: context.now })
  const recovery_codes = generateRecoveryCodes(context.random)
  await replaceRecoveryCodes(
    tx,
    account.id,
    recovery_codes.map((code) => recoveryCodeHash(context.keys, account.id, code)),
  )
  context.alert(account.id, { kind: 'two_factor_on' })
  context.audit(account.id, {
    action: 'totp.enabled',
    resource: { type: 'account', id: account.id },
  })
  return { status: 'enabled' as const, recovery_codes }
}
