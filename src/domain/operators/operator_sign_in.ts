import type { OutputOf } from '#contract/operation.ts'
import type { operator_sign_in } from '#contract/operator/system.ts'
import type { Context } from '#domain/context/context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { signInOperator } from './operator_token.ts'

export const operatorSignIn = (
  { tx, settings, keys, clock, now, request }: Context<null>,
  { totp_code }: { totp_code: string },
): Promise<OutputOf<typeof operator_sign_in>> => {
  const bearer = bearerOf(request.header('authorization') ?? undefined)
  return signInOperator(bearer, totp_code, { db: tx, settings, keys, clock, now })
}
