import { newBearer } from '#domain/access/bearer.ts'
import type { Handler } from '#platform/context.ts'
import { apiKeyView } from './api_key.ts'
import { insertApiKey } from './api_key_store.ts'

export const createApiKey: Handler<'create_api_key'> = async (context, input) => {
  const { tx, caller, keys, random, settings, now } = context
  const bearer = newBearer('api_key', { random, keys, livemode: settings.mode === 'live' })
  const key = await insertApiKey(tx, {
    account_id: caller.account_id,
    id: context.newId('key'),
    name: input.name ?? null,
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
    detail: `${key.prefix}… (${key.name ?? 'without a name'})`,
  })
  return { ...apiKeyView(key), key: bearer.text.open() }
}
