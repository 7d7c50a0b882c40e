import { saveGrant } from '#domain/credentials/grant_store.ts'
import type { MoneyRoom } from './money_room.ts'

const YEAR_MS = 365 * 86_400_000

/** Inserts a grant for reading cards directly; returns its ID. */
export async function insertBareGrant(
  { db, dependencies }: MoneyRoom,
  { account_id, client_id = 'client_1' }: { account_id: string; client_id?: string },
): Promise<string> {
  const now = dependencies.clock.now()
  const id = dependencies.newId('grant', now)
  const expires_at = new Date(now.getTime() + YEAR_MS)
  await saveGrant(db, {
    account_id,
    id,
    client_id,
    client_name: 'Shopping agent',
    payload: {
      kind: 'Grant',
      jti: id,
      iat: now.getTime() / 1_000,
      exp: expires_at.getTime() / 1_000,
      accountId: account_id,
      clientId: client_id,
      resources: { 'https://florin.example/v1': 'cards:read' },
    },
    card_ids: null,
    card_actions: null,
    redirect_uri: 'https://agent.example/callback',
    now,
    expires_at,
  })
  return id
}
