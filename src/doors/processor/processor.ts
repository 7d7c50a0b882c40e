import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import { notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { openChallenge } from '#domain/authorizations/challenge.ts'
import { findChallengeOf } from '#domain/authorizations/challenge_store.ts'
import type { Engine } from '#domain/authorizations/engine.ts'
import { findCardByHash, findPanHash } from '#domain/cards/pan_store.ts'
import { panHash } from '#domain/cards/pan_vault.ts'
import { readJsonBody } from '#doors/json_body.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import { ProcessorChallenge, ProcessorMessage } from './shapes.ts'
import { requireSigned, SIGNATURE_HEADER } from './signature.ts'
import { chargeOf, toRequest } from './to_request.ts'

/** Processors wait two to three seconds; ours is the answer that comes first. */
const DEADLINE_MS = 1_500

const messages = Compile(ProcessorMessage)
const challenges = Compile(ProcessorChallenge)

/**
 * The door of issuer processors that speak JSON: each message is signed by its link, decided by
 * the same engine as the networks' own, and answered again byte for byte when it is sent again.
 */
export function mountProcessor(app: FastifyInstance, runtime: Runtime, engine: Engine): void {
  app.post('/processor/:link/authorizations', async (request, reply) => {
    const { link, body } = await signedBody(runtime, request)
    if (!messages.Check(body)) throw notOurs()
    const answer = await decided(runtime, engine, { link, message: body })
    return reply.type('application/json; charset=utf-8').send(Buffer.from(answer))
  })
  app.post('/processor/:link/threeds', async (request) => {
    const { body } = await signedBody(runtime, request)
    if (!challenges.Check(body)) throw notOurs()
    return challengeFor(runtime, body)
  })
  app.get('/processor/:link/threeds/:id', async (request) => {
    await signedBody(runtime, request)
    const { id } = request.params as { id: string }
    const challenge = await findChallengeOf(runtime.db, id)
    if (challenge === null) throw notFound('challenge')
    return challengeView(challenge)
  })
}

function notOurs(): Problem {
  return new Problem('invalid_request', 'The body is not a supported message.')
}

/** Only what is not signed counts against its address: a processor sends thousands a second. */
async function signedBody(runtime: Runtime, request: FastifyRequest) {
  try {
    return readSigned(runtime, request)
  } catch (cause) {
    const nobody = { caller: null, ip: request.ip }
    await limitRate(runtime, rateSubjectOf(runtime, null, nobody))
    throw cause
  }
}

function readSigned({ settings, clock }: Runtime, request: FastifyRequest) {
  const { link } = request.params as { link: string }
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  const header = request.headers[SIGNATURE_HEADER]
  // Every object has a "constructor": only a name of the settings is a link.
  const secret = Object.hasOwn(settings.processors, link) ? settings.processors[link] : undefined
  if (secret === undefined) throw notFound('link')
  requireSigned(secret, {
    header: typeof header === 'string' ? header : undefined,
    body: bytes,
    wall: clock.wall(),
  })
  const content_type = request.headers['content-type']
  return { link, body: readJsonBody(bytes, content_type) }
}

async function decided(
  runtime: Runtime,
  engine: Engine,
  { link, message }: { link: string; message: ProcessorMessage },
): Promise<Uint8Array> {
  const { db, keys, clock } = runtime
  const pan_hash = 'token' in message.card ? await findPanHash(db, message.card.token) : null
  const received_at = clock.now()
  const request = toRequest(message, { link, keys, received_at, pan_hash })
  const stop = new AbortController()
  const late = clock.sleep(DEADLINE_MS, stop.signal).then(() => unavailable())
  const answer = engine.submit(request).then(
    ({ answer: bytes }) => bytes,
    (cause: unknown) => failed(runtime, cause),
  )
  try {
    return await Promise.race([answer, late])
  } finally {
    stop.abort()
  }
}

function unavailable(decline_code = 'issuer_unavailable'): Uint8Array {
  return Buffer.from(JSON.stringify({ decision: 'decline', decline_code }))
}

function failed({ log }: Runtime, cause: unknown): Uint8Array {
  if (cause instanceof Overdue) return unavailable()
  log.error('a processor message could not be decided', {}, cause)
  return unavailable(cause instanceof DatabaseUnavailable ? 'issuer_unavailable' : 'system_error')
}

type Outcome = { id: string; status: string; expires_at: Date }

/** In the words of EMV 3-D Secure: approved, not approved, or still asking. */
function challengeView({ id, status, expires_at }: Outcome) {
  const trans_status = status === 'approved' ? 'Y' : status === 'pending' ? 'C' : 'N'
  return { challenge_id: id, status, trans_status, expires_at: expires_at.toISOString() }
}

async function challengeFor(runtime: Runtime, body: ProcessorChallenge) {
  const { db, keys } = runtime
  const hash =
    'pan' in body.card ? panHash(keys, body.card.pan) : await findPanHash(db, body.card.token)
  const card = hash === null ? null : await findCardByHash(db, hash)
  const { minor, currency, micros } = chargeOf(body)
  if (card === null) throw notFound('card')
  if (currency === null || micros === null) {
    throw new Problem('invalid_amount', 'Send billing_usd: the amount in US dollars.')
  }
  const challenge = await openChallenge(runtime, card.account_id, {
    card_id: card.id,
    amount_minor: minor,
    currency,
    amount_micros: micros,
    merchant_name: body.merchant.name,
    merchant_id: body.merchant.id ?? null,
    mcc: body.merchant.mcc,
    merchant_country: body.merchant.country ?? null,
  })
  return challengeView(challenge)
}
