import type { Scope } from '#contract/scopes.ts'
import { findGrant, type GrantRow } from '#domain/credentials/grant_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Keys } from '#platform/storage/keys.ts'

/** A token was refused because it lacks scopes, and its owner is asked to add them. */
export type StepUpRequest = {
  grant_id: string
  /** The scopes of the refused token. Only tokens with the same ones gain the missing ones. */
  held: readonly Scope[]
  missing: readonly Scope[]
  expires_at: Date
}

/** As long as the access token that was refused. */
export const STEP_UP_MS = 60 * 60_000

const PURPOSE = 'oauth_step_up'

/**
 * The request travels in its link, encrypted, so refused calls store nothing.
 */
export function sealStepUp(keys: Keys, request: StepUpRequest): string {
  const { grant_id, held, missing, expires_at } = request
  const text = JSON.stringify([grant_id, held, missing, expires_at.getTime()])
  return keys.seal(PURPOSE, '', text)
}

function openStepUp(keys: Keys, sealed: string, now: Date): StepUpRequest | undefined {
  const text = unseal(keys, sealed)
  if (text === undefined) return undefined
  const [grant_id, held, missing, expires_ms] = JSON.parse(text) as SealedFields
  const expires_at = new Date(expires_ms)
  return expires_at > now ? { grant_id, held, missing, expires_at } : undefined
}

type SealedFields = [grant_id: string, held: Scope[], missing: Scope[], expires_ms: number]

function unseal(keys: Keys, sealed: string): string | undefined {
  try {
    return keys.open(PURPOSE, '', sealed)
  } catch {
    return undefined
  }
}

/** A request for more scopes, with the grant that is to have them. */
export type StepUp = { request: StepUpRequest; grant: GrantRow }

type StepUpDependencies = { keys: Keys; clock: Clock }

/** Undefined if the link is not ours, has expired or its grant has ended. */
export async function findStepUp(
  { keys, clock }: StepUpDependencies,
  sealed: unknown,
  dbOf: (grant_id: string) => Tx,
): Promise<StepUp | undefined> {
  const request = openStepUp(keys, String(sealed), clock.now())
  if (request === undefined) return undefined
  const grant = await findGrant(dbOf(request.grant_id), request.grant_id)
  if (grant === undefined || grant.revoked_at !== null || grant.expires_at <= clock.now()) {
    return undefined
  }
  return { request, grant }
}
