import { notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { ThreeDsChallenge, ThreeDsDecision } from '#contract/webhooks.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { ChallengePayment } from '#domain/context/surface.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import {
  type ChallengeRow,
  decideChallenge,
  hasListener,
  insertChallenge,
  lockChallenge,
} from './challenge_store.ts'

/**
 * 3-D Secure: before an online payment, the account's webhooks are asked to approve it. The first
 * decision counts, no response declines it, and an approval is valid for one purchase (see
 * three_ds.ts). Nothing waits here: the network's message arrives later and looks up the outcome.
 */

/** From the contract: a decision is accepted for five minutes. */
const LIFETIME_MS = 5 * 60_000
const TOKEN_BYTES = 32
const PURPOSE = 'three_ds_response'

type ChallengeDependencies = {
  db: Dependencies['db']
  clock: Dependencies['clock']
  random: Dependencies['random']
  keys: Dependencies['keys']
  newId: Dependencies['newId']
  settings: Dependencies['settings']
}

export async function openChallenge(
  tools: ChallengeDependencies,
  account_id: string,
  asked: ChallengePayment,
): Promise<ChallengeRow> {
  const { db, clock, random, keys, newId, settings } = tools
  const now = clock.now()
  const id = newId('chg', now)
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
  const expires_at = new Date(now.getTime() + LIFETIME_MS)
  return db.transaction(async (tx) => {
    const last4 = await last4Of(tx, account_id, asked.card_id)
    const object: ThreeDsChallenge = {
      challenge_id: id,
      card_id: asked.card_id,
      last4,
      amount: amountFromMinor(asked.amount_minor, asked.currency),
      currency: asked.currency,
      amount_usd: usdFromMicros(asked.amount_micros),
      merchant_name: asked.merchant_name,
      mcc: asked.mcc,
      merchant_country: asked.merchant_country,
      created_at: now.toISOString(),
      expires_at: expires_at.toISOString(),
      response_url: `${settings.public_url}/three_ds/${id}/${token}`,
    }
    // Without a webhook for challenges nobody could approve it.
    const has_listener = await hasListener(tx, account_id)
    return insertChallenge(tx, {
      ...asked,
      account_id,
      id,
      status: has_listener ? 'pending' : 'expired',
      response_hash: keys.credentialHash(PURPOSE, token),
      body: callbackBody(tools, { account_id, event_id: newId('evt', now), now, object }),
      next_attempt_at: has_listener ? now : null,
      created_at: now,
      expires_at,
    })
  })
}

async function last4Of(tx: Tx, account_id: string, card_id: string): Promise<string> {
  const [card] = await tx.rows<{ last4: string }>(
    'select last4 from cards where account_id = $1 and id = $2',
    [account_id, card_id],
  )
  if (card === undefined) throw notFound('card')
  return card.last4
}

type Callback = { account_id: string; event_id: string; now: Date; object: ThreeDsChallenge }

/** The envelope of an event, without a sequence number: a challenge is not an event. */
function callbackBody({ settings }: ChallengeDependencies, callback: Callback): string {
  return JSON.stringify({
    id: callback.event_id,
    type: 'three_ds.challenge',
    api_version: 'v1',
    created_at: callback.now,
    livemode: settings.mode === 'live',
    account_id: callback.account_id,
    sequence: null,
    request: null,
    data: { object: callback.object },
  })
}

/** Finds it by its response URL, which only its receivers know. */
export async function answerChallenge(
  { db, clock, keys }: ChallengeDependencies,
  { id, token, decision }: { id: string; token: string; decision: ThreeDsDecision },
): Promise<ChallengeRow> {
  return db.transaction(async (tx) => {
    const challenge = await lockChallenge(tx, id)
    const isTheirs =
      challenge !== null &&
      keys.credentialHashes(PURPOSE, token).includes(challenge.response_hash) &&
      decision.challenge_id === id
    if (!isTheirs) throw notFound('challenge')
    return settle(tx, challenge, decision.decision, clock.now())
  })
}

/** Applies the decision in the receiver's response. A late or second decision is ignored. */
export async function noteInlineDecision(
  { db, clock }: ChallengeDependencies,
  { id, decision }: { id: string; decision: 'approve' | 'decline' },
): Promise<void> {
  await db.transaction(async (tx) => {
    const challenge = await lockChallenge(tx, id)
    const isOpen = challenge?.status === 'pending' && clock.now() < challenge.expires_at
    if (challenge && isOpen) await settle(tx, challenge, decision, clock.now())
  })
}

async function settle(
  tx: Tx,
  challenge: ChallengeRow,
  decision: 'approve' | 'decline',
  now: Date,
): Promise<ChallengeRow> {
  const status = decision === 'approve' ? 'approved' : 'declined'
  if (challenge.status === status) return challenge
  if (challenge.status === 'expired' || now >= challenge.expires_at) {
    throw new Problem('challenge_expired', 'The challenge expired and the purchase was declined.')
  }
  if (challenge.status !== 'pending') {
    throw new Problem('decision_already_made', 'A different decision was already made.')
  }
  await decideChallenge(tx, challenge, { status, now })
  return { ...challenge, status, decided_at: now }
}
