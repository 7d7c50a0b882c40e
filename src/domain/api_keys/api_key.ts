import type { ApiKey } from '#contract/api_keys.ts'
import type { ApiKeyRow } from '#domain/credentials/api_key_store.ts'

export function apiKeyView(key: ApiKeyRow): ApiKey {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    status: key.status,
    last_used_at: key.last_used_at?.toISOString() ?? null,
    last_used_ip: key.last_used_ip,
    created_at: key.created_at.toISOString(),
    revoked_at: key.revoked_at?.toISOString() ?? null,
  }
}
