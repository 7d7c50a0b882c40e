import type { DeclineCode } from '#contract/decline.ts'
import type { Engine } from '#domain/authorizations/engine.ts'
import { declined } from '#domain/authorizations/record.ts'
import { type CardRequest, type EngineResponse, isAdvice } from '#domain/authorizations/request.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { Link } from '#iso8583/link.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import { maskMessage } from '#iso8583/mask.ts'
import { decode, decodePartially, encode, encodeResponse, type Message } from '#iso8583/message.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import { APPROVED, FORMAT_ERROR } from './response_codes.ts'
import { toRequest } from './to_request.ts'
import { type Asked, ECHOED, responseMti, restoreResponse, toResponse } from './to_response.ts'

/**
 * A connection whose sign-on is awaited may do nothing else; one that has ended it gets no
 * approvals until it signs on again, but what has happened is still booked.
 */
export type LinkState = { sign_on: 'awaited' | 'done' | 'ended' }

export type CardHostDependencies = Pick<Dependencies, 'keys' | 'clock' | 'log' | 'metrics'> & {
  engine: Engine
  link: Link
}

/** A message under way, and what to answer where its own answer does not come in time. */
export type Dispatched = {
  answer: Promise<Uint8Array>
  late(): Uint8Array
}

/** Null: the peer can't be told what was wrong, and nothing behind it can be trusted. */
export type Handled = Dispatched | { answer: Uint8Array } | { answer: null } | null

export function dispatch(
  dependencies: CardHostDependencies,
  state: LinkState,
  body: Uint8Array,
): Handled {
  let message: Message
  try {
    message = decode(dependencies.link, body)
  } catch (fault) {
    return refuse(dependencies, body, fault)
  }
  if (!isAnswered(message.mti)) return { answer: null }
  if (message.mti[1] === '8') return manage(dependencies, state, message)
  if (state.sign_on === 'awaited') return { answer: notSignedOn(dependencies, message) }
  try {
    return ask(dependencies, state, message)
  } catch (fault) {
    return refuse(dependencies, body, fault)
  }
}

/** Requests and advices are; answers to our own echo and notifications are not. */
const isAnswered = (mti: string): boolean => mti[2] === '0' || mti[2] === '2'

function notSignedOn({ link, log, metrics }: CardHostDependencies, message: Message): Uint8Array {
  metrics.card_messages.inc({ mti: message.mti, code: NOT_SIGNED_ON })
  log.info('a card message came before the sign-on', { link: link.name, mti: message.mti })
  const fields = { 39: NOT_SIGNED_ON }
  return encodeResponse(link, message, { mti: responseMti(message.mti), fields, repeats: ECHOED })
}

function refuse(
  { link, log, metrics }: CardHostDependencies,
  body: Uint8Array,
  fault: unknown,
): Handled {
  if (!(fault instanceof MalformedMessage)) throw fault
  const { element, reason } = fault
  metrics.card_messages.inc({ mti: 'malformed', code: FORMAT_ERROR })
  log.info('a card message was refused', { link: link.name, element, reason })
  const rest = decodePartially(link, body)
  if (rest === null || rest.fields[11] === undefined || !isAnswered(rest.mti)) return null
  const fields = { ...rest.fields, 39: FORMAT_ERROR }
  return { answer: encode(link, { mti: responseMti(rest.mti), fields }) }
}

const SIGN_ON = '001'
const SIGN_OFF = '002'
const ECHO = '301'
/** Requested function not supported: keys are exchanged where there is a module to keep them. */
const NOT_SUPPORTED = '40'
/** Issuer inoperative: the network keeps its advices and sends them again after the sign-on. */
const NOT_SIGNED_ON = '91'

function manage(
  { link }: CardHostDependencies,
  state: LinkState,
  { mti, fields }: Message,
): Handled {
  const code = fields[70]
  if (code === SIGN_ON) state.sign_on = 'done'
  const is_awaited = state.sign_on === 'awaited'
  if (code === SIGN_OFF && !is_awaited) state.sign_on = 'ended'
  const echo: Record<number, string> = {}
  for (const element of [7, 11, 33, 70] as const) {
    const value = fields[element]
    if (value !== undefined) echo[element] = value
  }
  echo[39] = is_awaited ? NOT_SIGNED_ON : managementCode(code)
  return { answer: encode(link, { mti: responseMti(mti), fields: echo }) }
}

function managementCode(code: string | undefined): string {
  if (code === undefined) return FORMAT_ERROR
  return code === SIGN_ON || code === SIGN_OFF || code === ECHO ? APPROVED : NOT_SUPPORTED
}

function ask(dependencies: CardHostDependencies, state: LinkState, message: Message): Handled {
  const { link, keys, clock } = dependencies
  const request = toRequest(message, {
    link,
    keys,
    received_at: clock.now(),
    masked: maskMessage(link, message),
    answer: (decision) => {
      const answer = toResponse(asked, decision)
      dependencies.metrics.card_messages.inc({ mti: message.mti, code: answer.response_code })
      return answer
    },
    restore: (kept_bytes) => restoreResponse(link, message, kept_bytes),
  })
  const asked: Asked = {
    link,
    message,
    is_advice: message.mti[2] === '2',
    has_code: request.isCodeRight !== null,
  }
  if (state.sign_on === 'ended' && !isAdvice(request.kind)) {
    return { answer: undecided(dependencies, asked, 'programme_paused') }
  }
  return {
    answer: dependencies.engine
      .submit(request)
      .then(bytesOf, (cause: unknown) =>
        undecided(dependencies, asked, failed(dependencies, request, cause)),
      ),
    late: () => {
      const { kind, link: name } = request
      dependencies.log.error(
        'a card message was not decided in time',
        { kind, link: name },
        undefined,
      )
      return undecided(dependencies, asked, 'issuer_unavailable')
    },
  }
}

const bytesOf = ({ answer }: EngineResponse): Uint8Array => answer

function undecided({ metrics }: CardHostDependencies, asked: Asked, code: DeclineCode): Uint8Array {
  const bare = { ...asked, is_advice: false, has_code: false }
  const { bytes, response_code } = toResponse(bare, declined(code))
  metrics.card_messages.inc({ mti: asked.message.mti, code: response_code })
  return bytes
}

/** Nothing unconfirmed is an approval: whatever went wrong, the network asks again or gives up. */
function failed(
  { log }: CardHostDependencies,
  { kind, link }: CardRequest,
  cause: unknown,
): DeclineCode {
  log.error('a card message could not be decided', { kind, link }, cause)
  if (cause instanceof Overdue) return 'issuer_unavailable'
  return cause instanceof DatabaseUnavailable ? 'issuer_unavailable' : 'system_error'
}
