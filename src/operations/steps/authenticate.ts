import { missingToken } from '#contract/common_problems.ts'
import type { Caller } from '#domain/context/context.ts'
import type { ResourceName } from '#domain/credentials/resource.ts'
import { operatorOf } from '#domain/operators/operator_token.ts'
import type { Invocation } from '#operations/invocation.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateSubjectOf } from './limit_rate.ts'

/** Finds the caller or operator of the bearer. Operations open to anyone ignore the bearer. */
export function authenticate(invocation: Invocation): void | Promise<void> {
  const { runtime, operation, call, request } = invocation
  const { bearer, resource } = call
  if (operation.access === 'anyone') return
  if ('operator' in operation.access) return authenticateOperator(invocation)
  invocation.caller = cachedCaller(runtime, { bearer, resource })
  if (invocation.caller !== null) return
  return identifyCaller(runtime, { bearer, resource, ip: request.ip }).then((caller) => {
    invocation.caller = caller
  })
}

type PresentedCredential = { bearer: string | null; resource?: ResourceName | undefined }

/** Null if the credential must be looked up, or is refused: the lookup says why. */
function cachedCaller(
  { credentials }: Runtime,
  { bearer, resource }: PresentedCredential,
): Caller | null {
  try {
    return bearer === null ? null : credentials.recall(bearer, resource)
  } catch {
    return null
  }
}

export async function callerOf(
  { credentials }: Runtime,
  { bearer, resource }: PresentedCredential,
): Promise<Caller> {
  if (bearer === null) throw missingToken()
  return credentials.recall(bearer, resource) ?? credentials.callerOf(bearer, resource)
}

/** Like callerOf; a failed attempt counts against the rate limit of its IP address. */
export function identifyCaller(
  runtime: Runtime,
  { ip, ...presented }: PresentedCredential & { ip: string },
): Promise<Caller> {
  return callerOf(runtime, presented).catch((cause) => countFailure(runtime, ip, cause))
}

async function authenticateOperator(invocation: Invocation): Promise<void> {
  const { runtime, call, request } = invocation
  const { db } = runtime.cells?.home ?? runtime
  const now = runtime.clock.now()
  invocation.operator = await operatorOf(call.bearer, { ...runtime, db, now }).catch((cause) =>
    countFailure(runtime, request.ip, cause),
  )
}

async function countFailure(runtime: Runtime, ip: string, cause: unknown): Promise<never> {
  await limitRate(runtime, rateSubjectOf(runtime, { ip }))
  throw cause
}
