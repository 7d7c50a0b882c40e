import type { BatchState } from './batch_state.ts'
import type { AnsweredRow } from './batch_store.ts'
import { decide } from './decide.ts'
import type { RespondedMessage } from './outcome_store.ts'
import { declined } from './record.ts'
import type { CardRequest, EngineResponse } from './request.ts'

type EarlierResponse = { fingerprint: string; kept: Uint8Array }

/** Responds to the messages of a batch in order: decides new ones, repeats earlier responses. */
export class Responder {
  readonly #state: BatchState
  readonly #earlier = new Map<string, EarlierResponse>()
  /** The messages that were decided. */
  readonly messages: RespondedMessage[] = []

  constructor(state: BatchState, seen: readonly AnsweredRow[]) {
    this.#state = state
    for (const { identity, fingerprint, answer } of seen) {
      if (answer === null || fingerprint === null) continue
      this.#earlier.set(identity, { fingerprint, kept: answer })
    }
  }

  respond(request: CardRequest): EngineResponse {
    const known = this.#earlier.get(request.identity)
    if (known !== undefined) return repeatResponse(request, known)
    const decision = decide(this.#state, request)
    const answer = request.answer(decision)
    this.messages.push({ request, answer, transaction: decision.transaction })
    this.#state.answered.add(request.identity)
    const { fingerprint } = request
    this.#earlier.set(request.identity, { fingerprint, kept: answer.kept_bytes })
    return { answer: answer.bytes, is_repeat: false, decision }
  }
}

/** The first response byte for byte, or a conflict if the message differs. */
function repeatResponse(
  request: CardRequest,
  { fingerprint, kept }: EarlierResponse,
): EngineResponse {
  if (fingerprint === request.fingerprint) {
    return { answer: request.restore(kept), is_repeat: true, decision: null }
  }
  const decision = declined('duplicate_conflict')
  return { answer: request.answer(decision).bytes, is_repeat: true, decision }
}
