import type { OutputOf } from '#contract/operation.ts'
import type { operator_sign_in } from '#contract/operator/system.ts'
import type { Context } from '#domain/context/context.ts'
import { totpStepOf } from '#domain/credentials/totp.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { signInOperator } from './operator_token.ts'

type SignedIn = OutputOf<typeof operator_sign_in>

export const operatorSignIn = (
  { tx, settings, keys, clock, now, request }: Context<null>,
  { totp_code }: { totp_code: string },
): Promise<SignedIn> => {
  const bearer = bearerOf(request.header('authorization') ?? undefined)
  const stepOf = (secret: string) => totpStepOf(secret, totp_code, clock.wall())
  return signInOperator(bearer, stepOf, { db: tx, settings, keys, now })
}
