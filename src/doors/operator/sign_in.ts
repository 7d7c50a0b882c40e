import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Input, TotpCode } from '#contract/shapes.ts'
import { totpStepOf } from '#domain/accounts/totp.ts'
import { signInOperator } from '#domain/operators/operator_token.ts'
import { bearerOf } from '#doors/bearer.ts'
import { readInput } from '#doors/read_input.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate } from '#operations/steps/limit_rate.ts'
import { parseInput } from '#operations/steps/parse_input.ts'
import { operatorCall } from './operator_call.ts'

const sign_in = operatorCall({
  name: 'sign_in',
  method: 'POST',
  path: '/sessions',
  role: 'viewer',
  summary: 'Exchange a token that asks for a code, and the code, for a session of eight hours.',
  input: Input({ totp_code: TotpCode }),
  output: Type.Object({ bearer: Type.String(), expires_at: Type.String() }),
})

/** A code has a million values: whoever has stolen a token may guess about a thousand a day. */
const GUESSES = [{ name: 'sustained', limit: 10, window_ms: 15 * 60_000 }]

export async function signIn(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { keys, clock } = runtime
  const bearer = bearerOf(request.headers.authorization)
  const key = `operator_code|${keys.fingerprint('operator', bearer ?? '')}`
  await limitRate(runtime, { key, policies: GUESSES })
  const { totp_code } = parseInput(sign_in, await readInput(sign_in, request)) as {
    totp_code: string
  }
  const stepOf = (secret: string) => totpStepOf(secret, totp_code, clock.wall())
  const session = await signInOperator(bearer, stepOf, { ...runtime, now: clock.now() })
  return reply.header('Cache-Control', 'no-store').send(session)
}
