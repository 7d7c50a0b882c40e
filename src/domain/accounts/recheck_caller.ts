import { accountSuspended, tokenRevoked, totpRequired } from '#contract/common_problems.ts'
import type { Caller } from '#domain/context/context.ts'
import { findCredentialEnd } from '#domain/credentials/credential_store.ts'
import { requireCooledDown } from '#domain/risk/risk.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { lockAccount } from './account_store.ts'

/**
 * Repeats the checks of a caller inside the transaction, under the lock of the account's row. While
 * a slow preparation ran the credential may have been revoked, the account suspended, the password
 * changed or two-factor authentication turned on.
 */
export async function recheckCaller(
  { tx, caller, settings, now }: { tx: Tx; caller: Caller; settings: Settings; now: Date },
  { hasCode }: { hasCode: boolean },
): Promise<void> {
  const account = await lockAccount(tx, caller.account_id)
  await requireUnrevoked({ tx, caller })
  if (account.status === 'suspended') {
    throw accountSuspended()
  }
  await requireCooledDown(tx, caller, { settings, now })
  if (caller.kind === 'session' && account.totp_status === 'enabled' && !hasCode) {
    throw totpRequired()
  }
}

/**
 * Refuses a call whose credential was revoked while the call was prepared or waited for its turn.
 * For calls that give lasting access, such as a new key: it would outlast the revocation.
 */
export async function requireUnrevoked({ tx, caller }: { tx: Tx; caller: Caller }): Promise<void> {
  const credential = await findCredentialEnd(tx, caller)
  if (credential === undefined || credential.ended_at !== null) throw tokenRevoked()
}
