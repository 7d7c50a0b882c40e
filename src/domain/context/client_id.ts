import type { Caller } from './context.ts'

/** The OAuth client that calls; null for the owner, with a session or an API key. */
export const clientIdOf = (caller: Caller | null): string | null =>
  caller?.kind === 'oauth_client' ? caller.id : null
