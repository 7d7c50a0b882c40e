import type { Handler } from '#domain/context/context.ts'
import { readApiKeyPage } from '#domain/credentials/api_key_store.ts'
import { anyOf, mapPage } from '#platform/postgres/page.ts'
import { apiKeyView } from './api_key.ts'

export const listApiKeys: Handler<'list_api_keys'> = async ({ tx, caller }, input) => {
  const page = await readApiKeyPage(tx, {
    operation: 'list_api_keys',
    where: [['account_id = ?', caller.account_id], ...anyOf('status', input.status)],
    input,
  })
  return mapPage(page, apiKeyView)
}
