import type { CardRequest, StoredResponse } from '#domain/authorizations/request.ts'
import { toRequest } from '#doors/card_host/to_request.ts'
import { default_link } from '#iso8583/links.ts'
import { maskBytes } from '#iso8583/mask.ts'
import { decode } from '#iso8583/message.ts'
import type { BenchEnvironment } from './environment.ts'
import { frameMaker } from './messages.ts'

const ANSWER_BYTES = 120

/** A placeholder of typical size for the response that the codec would build. */
const answer: StoredResponse = {
  mti: '0110',
  response_code: '00',
  fields: null,
  bytes: new Uint8Array(ANSWER_BYTES),
  kept_bytes: new Uint8Array(ANSWER_BYTES),
}

/** Generates unique purchases with random cards, as the engine receives them from its doors. */
export function requestMaker({
  dependencies,
  cards,
}: Pick<BenchEnvironment, 'dependencies' | 'cards'>): () => CardRequest {
  const templates = cards.map((card): CardRequest => {
    const message = decode(default_link, frameMaker([card])().body)
    return toRequest(message, {
      link: default_link,
      keys: dependencies.keys,
      received_at: new Date(),
      deadline_ms: Number.POSITIVE_INFINITY,
      message: { mti: message.mti, raw: maskBytes(default_link, message), fields: null },
      answer: () => answer,
      restore: () => answer.bytes,
    })
  })
  const run = Math.random().toString(36).slice(2)
  let count = 0
  return () => {
    const template = templates[Math.floor(Math.random() * templates.length)]
    if (template === undefined) throw new Error('there are cards')
    count += 1
    const retrieval_reference_number = String(count).padStart(12, '0')
    return {
      ...template,
      identity: `${template.identity}|${run}|${count}`,
      reference: { ...template.reference, retrieval_reference_number },
      received_at: new Date(),
    }
  }
}
