import { Problem } from '#contract/problem.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import { StorageUnavailable } from '#platform/storage/blobs.ts'
import { ScreeningUnavailable } from '#rails/screening/screening.ts'
import type { Response } from './call.ts'

/** The problem that is shown to the caller for anything that was thrown. */
export function problemOf(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  if (cause instanceof DatabaseUnavailable) {
    return new Problem(
      'service_unavailable',
      'The outcome could not be confirmed. Retry with the same Idempotency-Key.',
      { retry_after_s: 1, cause },
    )
  }
  if (cause instanceof StorageUnavailable) {
    const sentence = 'Files cannot be stored now. Nothing was changed. Try again later.'
    return new Problem('service_unavailable', sentence, { retry_after_s: 60, cause })
  }
  if (cause instanceof ScreeningUnavailable) {
    const sentence = 'Addresses cannot be screened now. Nothing was changed. Try again later.'
    return new Problem('service_unavailable', sentence, { retry_after_s: 60, cause })
  }
  if (cause instanceof Overdue) {
    const sentence = 'The service is busy, and nothing was changed. Try again in a moment.'
    return new Problem('service_unavailable', sentence, { retry_after_s: 1 })
  }
  return new Problem('internal_error', 'Something went wrong on our end.', { cause })
}

export function problemResponse(problem: Problem, request_id: string): Response {
  const { status, code, message, details, retry_after_s, approval } = problem
  return {
    status,
    problem_code: code,
    headers: retry_after_s === undefined ? {} : { 'Retry-After': String(retry_after_s) },
    body: JSON.stringify({
      error: code,
      message,
      request_id,
      ...(details && { details }),
      ...(approval && { approval }),
    }),
  }
}
