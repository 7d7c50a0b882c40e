import { takesIdempotencyKey } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Invocation } from '#operations/invocation.ts'

export function readIdempotencyKey({ operation, request }: Invocation): void {
  if (!takesIdempotencyKey(operation)) return
  request.idempotency_key = idempotencyKeyFrom(request.header('idempotency-key'))
}

/** A tool argument can have megabytes; the patterns must not run on them. */
const QUOTED_LENGTH_MAX = 257
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** 1 to 255 visible ASCII characters; the quoted form of the IETF draft is the same key. */
export function idempotencyKeyFrom(header: string | null): string | null {
  if (header === null) return null
  const quoted = header.length > QUOTED_LENGTH_MAX ? null : /^"(.*)"$/.exec(header)
  const key = quoted?.[1] ?? header
  if (KEY_PATTERN.test(key)) return key
  throw new Problem(
    'invalid_idempotency_key',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.',
  )
}
