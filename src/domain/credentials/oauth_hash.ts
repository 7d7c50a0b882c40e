import type { Keys } from '#platform/storage/keys.ts'

/** What the database knows a token, code, secret or cookie of the authorization server by. */
export function oauthHash(keys: Keys, value: string): string {
  return keys.credentialHash('oauth', value)
}

export function oauthHashes(keys: Keys, value: string): string[] {
  return keys.credentialHashes('oauth', value)
}
