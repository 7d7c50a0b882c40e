import { Problem } from '#contract/problem.ts'
import { requireGuessLeft } from '#domain/access/guesses.ts'
import type { Handler } from '#platform/context.ts'
import { findAccount, lockAccount, replaceRecoveryCodes, updateTotp } from './account_store.ts'
import { requireTotpCode } from './two_factor.ts'
import { requireCurrentPassword } from './update_account.ts'

export const disable2fa: Handler<'disable_2fa'> = {
  prepare: async (context, input) => {
    const { db, keys, caller, now } = context
    const account = await findAccount(db, caller.account_id)
    if (account.totp_status !== 'enabled') throw notEnabled()
    await requireCurrentPassword(context, input.password)
    await requireGuessLeft({ tx: db, keys, subject: `totp|${caller.account_id}`, now })

    return async ({ tx, keys, clock, caller, now, audit }) => {
      const account = await lockAccount(tx, caller.account_id)
      if (account.totp_status !== 'enabled') throw notEnabled()
      await requireTotpCode({ tx, keys, clock }, account, input.totp_code)
      await updateTotp(tx, {
        id: account.id,
        totp_status: 'disabled',
        totp_secret_sealed: null,
        now,
      })
      await replaceRecoveryCodes(tx, account.id, [])
      audit(account.id, { action: 'totp.disabled', resource: { type: 'account', id: account.id } })
      return {}
    }
  },
}

const notEnabled = () => new Problem('totp_not_enabled', 'Two-factor is not on.')
