import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { openChallenge } from '#domain/authorizations/challenge.ts'
import { findChallengeOf } from '#domain/authorizations/challenge_store.ts'
import type { Engine } from '#domain/authorizations/engine.ts'
import { RESPONSE_MAX_MS } from '#domain/authorizations/request.ts'
import { findCardByHash, findCardNumber } from '#domain/cards/pan_store.ts'
import { cellOfPan, openPan, panHash } from '#domain/cards/pan_vault.ts'
import { readJsonBody } from '#doors/json_body.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { requireStorableText, validateInput } from '#operations/steps/parse_input.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import { ProcessorChallenge, ProcessorMessage } from './shapes.ts'
import { requireSignature, SIGNATURE_HEADER } from './signature.ts'
import { type CardNumber, chargeOf, toRequest } from './to_request.ts'

/** Constants, because the validator of each is compiled once. */
const message_input = { method: 'POST', input: ProcessorMessage }
const challenge_input = { method: 'POST', input: ProcessorChallenge }

/**
 * The API for issuer processors that use JSON. Each message is signed by its link and decided by
 * the same engine as ISO 8583 messages; a repeat gets the same response byte for byte.
 */
export function mountProcessor(app: FastifyInstance, runtime: Runtime, engine: Engine): void {
  app.post('/processor/:link/authorizations', async (request, reply) => {
    const { link, body } = await readSignedBody(runtime, request)
    const message = validateInput(message_input, body).input as ProcessorMessage
    requireNoDecision(message)
    const response = await decide(runtime, engine, { link, message })
    return reply.type('application/json; charset=utf-8').send(Buffer.from(response))
  })
  app.post('/processor/:link/threeds', async (request) => {
    const { body } = await readSignedBody(runtime, request)
    const { input } = validateInput(challenge_input, body)
    return openProcessorChallenge(runtime, input as ProcessorChallenge)
  })
  app.get('/processor/:link/threeds/:id', async (request) => {
    await readSignedBody(runtime, request)
    const { id } = request.params as { id: string }
    const challenge = await findChallengeOf(runtimeOfId(runtime, id).db, id)
    if (challenge === null) throw notFound('challenge')
    return challengeView(challenge)
  })
}

/** Only an advice reports a decision. A reversal or clearing must not be stored as a decline. */
function requireNoDecision({ type, decision }: ProcessorMessage): void {
  if (type === 'advice' || decision === undefined) return
  throw new Problem('invalid_request', `Only an advice has a decision. This is type "${type}".`)
}

/** Only unsigned requests are rate limited: a processor sends thousands a second. */
async function readSignedBody(runtime: Runtime, request: FastifyRequest) {
  try {
    return verifyBody(runtime, request)
  } catch (cause) {
    await limitRate(runtime, rateSubjectOf(runtime, { ip: request.ip }))
    throw cause
  }
}

async function verifyBody({ settings, clock }: Runtime, request: FastifyRequest) {
  const { link } = request.params as { link: string }
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  const header = request.headers[SIGNATURE_HEADER]
  // A link named "constructor" must not find the property that every object inherits.
  const secret = Object.hasOwn(settings.processors, link) ? settings.processors[link] : undefined
  if (secret === undefined) throw notFound('link')
  requireSignature(secret, {
    header: typeof header === 'string' ? header : undefined,
    body: bytes,
    wall: clock.wall(),
  })
  const body = await readJsonBody(bytes, request.headers['content-type'])
  requireStorableText(body, 'body')
  return { link, body }
}

async function decide(
  runtime: Runtime,
  engine: Engine,
  { link, message }: { link: string; message: ProcessorMessage },
): Promise<Uint8Array> {
  const { clock } = runtime
  const deadline_ms = clock.monotonic() + RESPONSE_MAX_MS
  const decided = new AbortController()
  const late = clock.sleep(RESPONSE_MAX_MS, decided.signal).then(() => declineUndecided())
  try {
    return await Promise.race([respond(runtime, engine, { link, message, deadline_ms }), late])
  } finally {
    decided.abort()
  }
}

type SubmittedMessage = { link: string; message: ProcessorMessage; deadline_ms: number }

async function respond(
  runtime: Runtime,
  engine: Engine,
  { link, message, deadline_ms }: SubmittedMessage,
): Promise<Uint8Array> {
  const { keys, clock } = runtime
  const received_at = clock.now()
  const number = await numberOf(runtime, message.card)
  const request = toRequest(message, { link, keys, received_at, deadline_ms, number })
  try {
    return (await engine.submit(request)).answer
  } catch (cause) {
    return declineFailed(runtime, { link, message_id: message.id }, cause)
  }
}

/** The number of a message's card; null if its token names none. */
async function numberOf(
  runtime: Runtime,
  card: ProcessorMessage['card'],
): Promise<CardNumber | null> {
  const { keys } = runtime
  if ('pan' in card) return { hash: panHash(keys, card.pan), open: () => card.pan }
  const found = await findCardNumber(runtimeOfId(runtime, card.token).db, card.token)
  if (found === null) return null
  const { pan_hash, pan_sealed } = found
  return { hash: pan_hash, open: () => openPan(keys, card.token, pan_sealed).open() }
}

/** Cell 0 also has the numbers from before there were other cells. */
async function findCard(runtime: Runtime, hash: string) {
  const named = runtime.cells?.at(cellOfPan(hash)) ?? runtime
  return (await findCardByHash(named.db, hash)) ?? findCardByHash(runtime.db, hash)
}

/** Declines a message that the engine did not decide. Nothing is stored. */
function declineUndecided(decline_code = 'issuer_unavailable'): Uint8Array {
  return Buffer.from(JSON.stringify({ decision: 'decline', decline_code }))
}

function declineFailed(
  { log }: Runtime,
  fields: { link: string; message_id: string },
  cause: unknown,
): Uint8Array {
  if (cause instanceof Overdue) return declineUndecided()
  log.error('processor message not decided', fields, cause)
  return declineUndecided(
    cause instanceof DatabaseUnavailable ? 'issuer_unavailable' : 'system_error',
  )
}

type ChallengeStatus = { id: string; status: string; expires_at: Date }

/** trans_status as in EMV 3-D Secure: authenticated, challenge required or not authenticated. */
function challengeView({ id, status, expires_at }: ChallengeStatus) {
  const trans_status = status === 'approved' ? 'Y' : status === 'pending' ? 'C' : 'N'
  return { challenge_id: id, status, trans_status, expires_at: expires_at.toISOString() }
}

async function openProcessorChallenge(runtime: Runtime, body: ProcessorChallenge) {
  const number = await numberOf(runtime, body.card)
  const card = number === null ? null : await findCard(runtime, number.hash)
  const { minor, currency, micros } = chargeOf(body)
  if (card === null) throw notFound('card')
  if (currency === null || micros === null) {
    throw new Problem('invalid_amount', 'Send billing_usd: the amount in US dollars.')
  }
  const challenge = await openChallenge(runtimeOfId(runtime, card.id), card.account_id, {
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
