import type { Keys } from '#platform/storage/keys.ts'

/** Tokens, codes, secrets and cookies of the authorization server are stored as this hash. */
export function oauthHash(keys: Keys, value: string): string {
  return keys.credentialHash('oauth', value)
}

export function oauthHashes(keys: Keys, value: string): string[] {
  return keys.credentialHashes('oauth', value)
}
