import { requireUnrevoked } from '#domain/accounts/recheck_caller.ts'
import { requireSessionCode } from '#domain/accounts/two_factor.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { insertApiKey } from '#domain/credentials/api_key_store.ts'
import { newBearer } from '#domain/credentials/bearer.ts'
import { nameInSentence } from '#kernel/name_in_sentence.ts'
import { apiKeyView } from './api_key.ts'

/**
 * A key can withdraw and reveal cards without a two-factor code, so a session of an account with
 * two-factor authentication must send one to create it.
 */
export const createApiKey: Handler<'create_api_key'> = {
  prepare: async (preparing, { name = null, totp_code }) => {
    await requireSessionCode(preparing, totp_code)

    return async (context) => {
      await requireUnrevoked(context)
      return createKey(context, name)
    }
  },
}

async function createKey(context: Context, name: string | null) {
  const { tx, caller, keys, random, settings, now } = context
  const bearer = newBearer('api_key', {
    random,
    keys,
    livemode: settings.mode === 'live',
    cell: settings.cell,
  })
  const key = await insertApiKey(tx, {
    account_id: caller.account_id,
    id: context.newId('key'),
    name,
    prefix: bearer.shown_prefix,
    key_hash: bearer.hash,
    created_at: now,
  })
  context.audit(caller.account_id, {
    action: 'api_key.created',
    resource: { type: 'api_key', id: key.id },
  })
  context.alert(caller.account_id, {
    kind: 'api_key_created',
    detail: `${key.prefix}… (${nameInSentence(key.name) ?? 'without a name'})`,
  })
  return { ...apiKeyView(key), key: bearer.text.open() }
}
