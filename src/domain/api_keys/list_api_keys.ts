import type { Handler } from '#domain/context/context.ts'
import { anyOf } from '#platform/postgres/page.ts'
import { apiKeyView } from './api_key.ts'
import { pageOfApiKeys } from './api_key_store.ts'

export const listApiKeys: Handler<'list_api_keys'> = async ({ tx, caller }, input) => {
  const page = await pageOfApiKeys(tx, input, [
    ['account_id = ?', caller.account_id],
    ...anyOf('status', input.status),
  ])
  return { ...page, data: page.data.map(apiKeyView) }
}
