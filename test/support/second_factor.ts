import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import type { Clock } from '#platform/runtime/clock.ts'
import { send } from './http.ts'

const STEP_MS = 30_000

/** The code of an authenticator app, offset by a number of time steps. */
export function codeOf(secret: string, clock: Clock, steps = 0): string {
  const timestamp = clock.wall().getTime() + steps * STEP_MS
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

/** A code that is wrong in every accepted time step. */
export function wrongCodeOf(secret: string, clock: Clock): string {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, clock, steps))
  const wrong = ['000000', '111111', '222222', '333333', '444444', '555555'].find(
    (code) => !near.includes(code),
  )
  assert(wrong !== undefined)
  return wrong
}

export type SecondFactor = { secret: string; recovery_codes: string[] }

/** Turns on two-factor authentication. This consumes the code of the current time step. */
export async function turnOnTwoFactor(
  url: string,
  bearer: string,
  clock: Clock,
): Promise<SecondFactor> {
  const path = '/v1/accounts/me/totp'
  const started = await send(url, 'POST', path, { bearer })
  const secret = String(started.body['secret'])
  const body = { totp_code: codeOf(secret, clock) }
  const confirmed = await send(url, 'POST', path, { bearer, body })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { secret, recovery_codes: confirmed.body['recovery_codes'] }
}
