import type { DeclineCode } from '#contract/decline.ts'
import type { Engine } from '#domain/authorizations/engine.ts'
import { declined } from '#domain/authorizations/record.ts'
import { type CardRequest, RESPONSE_MAX_MS } from '#domain/authorizations/request.ts'
import { FORMAT_ERROR, ISSUER_INOPERATIVE } from '#doors/response_codes.ts'
import type { Link } from '#iso8583/link.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import { maskBytes } from '#iso8583/mask.ts'
import { decode, decodePartially, encode, encodeResponse, type Message } from '#iso8583/message.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { Keys } from '#platform/storage/keys.ts'
import {
  isNetworkManagement,
  respondToNetworkManagement,
  type SignOnState,
} from './network_management.ts'
import { isDeclinable, toRequest } from './to_request.ts'
import {
  ECHOED_ELEMENTS,
  type ResponseContext,
  responseMti,
  restoreResponse,
  toResponse,
} from './to_response.ts'

export type CardHostDependencies = {
  engine: Engine
  link: Link
  keys: Keys
  clock: Clock
  log: Log
  metrics: Metrics
}

export type PendingResponse = {
  type: 'pending'
  /** By the monotonic clock. */
  deadline_ms: number
  response: Promise<Uint8Array>
  /** The response if the engine has not decided before the deadline. */
  respondLate(): Uint8Array
}

/** The next step of a connection after a frame. */
export type FrameOutcome =
  | { type: 'response'; response: Uint8Array }
  | PendingResponse
  | { type: 'no_response' }
  /** The message is so malformed that no response can name it. */
  | { type: 'close' }

/** Decodes one message and starts its processing. */
export function dispatch(
  dependencies: CardHostDependencies,
  state: SignOnState,
  body: Uint8Array,
): FrameOutcome {
  try {
    const message = decode(dependencies.link, body)
    if (!expectsResponse(message.mti)) return { type: 'no_response' }
    if (isNetworkManagement(message.mti)) {
      return respond(respondToNetworkManagement(dependencies.link, state, message))
    }
    if (state.sign_on === 'awaited') return rejectBeforeSignOn(dependencies, message)
    return submit(dependencies, state, message)
  } catch (fault) {
    return rejectMalformed(dependencies, body, fault)
  }
}

const respond = (response: Uint8Array): FrameOutcome => ({ type: 'response', response })

/** True for requests and advices; false for notifications and the responses to our echo tests. */
const expectsResponse = (mti: string): boolean => mti[2] === '0' || mti[2] === '2'

/** The network keeps its advices after a 91 and sends them again after the sign-on. */
function rejectBeforeSignOn(
  { link, log, metrics }: CardHostDependencies,
  message: Message,
): FrameOutcome {
  const { mti } = message
  metrics.card_messages.inc({ mti, code: ISSUER_INOPERATIVE })
  log.info('card message rejected before sign-on', { link: link.name, mti })
  const fields = { 39: ISSUER_INOPERATIVE }
  const echoes = ECHOED_ELEMENTS
  return respond(encodeResponse(link, message, { mti: responseMti(mti), fields, echoes }))
}

function rejectMalformed(
  { link, log, metrics }: CardHostDependencies,
  body: Uint8Array,
  fault: unknown,
): FrameOutcome {
  if (!(fault instanceof MalformedMessage)) throw fault
  const { element, reason } = fault
  metrics.card_messages.inc({ mti: 'malformed', code: FORMAT_ERROR })
  log.info('malformed card message', { link: link.name, element, reason })
  const readable = decodePartially(link, body)
  const can_respond = readable?.fields[11] !== undefined && expectsResponse(readable.mti)
  if (readable === null || !can_respond) return { type: 'close' }
  const fields = { ...readable.fields, 39: FORMAT_ERROR }
  return respond(encode(link, { mti: responseMti(readable.mti), fields }))
}

/** Translates the message, submits it to the engine and returns the promise of its response. */
function submit(
  dependencies: CardHostDependencies,
  state: SignOnState,
  message: Message,
): FrameOutcome {
  const { link, keys, clock, engine, metrics } = dependencies
  const deadline_ms = clock.monotonic() + RESPONSE_MAX_MS
  const request = toRequest(message, {
    link,
    keys,
    received_at: clock.now(),
    deadline_ms,
    message: { mti: message.mti, raw: maskBytes(link, message), fields: null },
    // The engine calls it inside the batch, because it stores the response with the decision.
    answer: (decision) => {
      const response = toResponse(context, decision)
      metrics.card_messages.inc({ mti: message.mti, code: response.response_code })
      return response
    },
    restore: (kept_bytes) => restoreResponse(link, message, kept_bytes),
  })
  const context: ResponseContext = {
    link,
    message,
    is_advice: message.mti[2] === '2',
    has_cvv: request.isCodeRight !== null,
  }
  if (state.sign_on === 'signed_off' && isDeclinable(message.mti)) {
    return respond(declineUndecided(dependencies, context, 'programme_paused'))
  }
  let is_late = false
  return {
    type: 'pending',
    deadline_ms,
    response: engine.submit(request).then(
      ({ answer }) => answer,
      (cause: unknown) => {
        // It was declined, logged and counted when its time was up.
        if (is_late && cause instanceof Overdue) return NOT_SENT
        return declineUndecided(dependencies, context, declineCodeOf(dependencies, request, cause))
      },
    ),
    respondLate: () => {
      is_late = true
      const labels = { kind: request.kind, link: link.name }
      dependencies.log.error('card message not decided before its deadline', labels, undefined)
      return declineUndecided(dependencies, context, 'issuer_unavailable')
    },
  }
}

const NOT_SENT = new Uint8Array()

/** Declines a message that the engine did not decide. Nothing is stored. */
function declineUndecided(
  { metrics }: CardHostDependencies,
  context: ResponseContext,
  code: DeclineCode,
): Uint8Array {
  const as_request = { ...context, is_advice: false, has_cvv: false }
  const { bytes, response_code } = toResponse(as_request, declined(code))
  metrics.card_messages.inc({ mti: context.message.mti, code: response_code })
  return bytes
}

/** An unconfirmed decision is never an approval; the network repeats the message or gives up. */
function declineCodeOf(
  { log }: CardHostDependencies,
  { kind, link }: CardRequest,
  cause: unknown,
): DeclineCode {
  log.error('card message not decided', { kind, link }, cause)
  const is_unavailable = cause instanceof Overdue || cause instanceof DatabaseUnavailable
  return is_unavailable ? 'issuer_unavailable' : 'system_error'
}
