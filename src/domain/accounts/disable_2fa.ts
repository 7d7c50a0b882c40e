import { Problem } from '#contract/problem.ts'
import type { Handler } from '#domain/context/context.ts'
import { findAccount, lockAccount, replaceRecoveryCodes, updateTotp } from './account_store.ts'
import { consumeCode } from './two_factor.ts'
import { requireCurrentPassword, requireSamePassword } from './update_account.ts'

export const disable2fa: Handler<'disable_2fa'> = {
  prepare: async (context, input) => {
    const account = await findAccount(context.db, context.caller.account_id)
    if (account.totp_status !== 'enabled') throw notEnabled()
    const checked = await requireCurrentPassword(context, input.password)
    await consumeCode(context, account, input)

    return async ({ tx, caller, now, audit, alert }) => {
      const account = await lockAccount(tx, caller.account_id)
      if (account.totp_status !== 'enabled') throw notEnabled()
      requireSamePassword(account, checked)
      await updateTotp(tx, {
        id: account.id,
        totp_status: 'disabled',
        totp_secret_sealed: null,
        now,
      })
      await replaceRecoveryCodes(tx, account.id, [])
      alert(account.id, { kind: 'two_factor_off' })
      audit(account.id, { action: 'totp.disabled', resource: { type: 'account', id: account.id } })
      return {}
    }
  },
}

const notEnabled = () => new Problem('totp_not_enabled', 'Two-factor authentication is not on.')
