import type { Operation } from '#contract/operation.ts'
import { pipeline_operations } from '#contract/operator/operations.ts'
import { Problem } from '#contract/problem.ts'
import { normalizeEmail } from '#domain/accounts/account.ts'
import { cellOfBearer } from '#domain/credentials/bearer.ts'
import { cellOfLinkToken } from '#domain/credentials/link_token.ts'
import { cellOfId } from '#kernel/id.ts'
import type { Call } from './call.ts'
import type { Cells, Runtime } from './runtime.ts'
import { rateSubjectOf } from './steps/limit_rate.ts'
import { validateInput } from './steps/parse_input.ts'
import { idempotencyKeyFrom } from './steps/read_idempotency_key.ts'

/** The runtime of an object. An ID of an unknown cell is looked for in cell 0, and not found. */
export function runtimeOfId(runtime: Runtime, id: string): Runtime {
  return runtime.cells === null ? runtime : (runtime.cells.at(cellOfId(id)) ?? runtime.cells.home)
}

/**
 * The runtime of a credential. Credentials without a known cell are looked up, and rejected, in
 * cell 0.
 */
export function runtimeOfBearer(runtime: Runtime, bearer: string | null): Runtime {
  if (runtime.cells === null) return runtime
  const cell = bearer === null ? null : (cellOfBearer(bearer) ?? cellOfLinkToken(bearer))
  return (cell === null ? undefined : runtime.cells.at(cell)) ?? runtime.cells.home
}

/** The runtime that performs a call: by its bearer, by the object of an operator, or by email. */
export async function runtimeOfCall(runtime: Runtime, call: Call): Promise<Runtime> {
  const { cells } = runtime
  if (cells === null) return runtime
  const { access }: Operation = pipeline_operations[call.operation]
  if (access !== 'anyone' && !('operator' in access)) return runtimeOfBearer(runtime, call.bearer)
  const input = await givenInput(call)
  if (access !== 'anyone') {
    return runtimeOfId(runtime, textOf(input, 'id') || textOf(input, 'account_id'))
  }
  const number = await cellOfAnyone(cells, call, input)
  const chosen = number === null ? cells.home : cells.at(number)
  if (chosen !== undefined) return chosen
  throw new Problem('service_unavailable', 'This account is served by other nodes.', {
    retry_after_s: 1,
  })
}

/** Read again by the pipeline, which refuses invalid input. */
export async function givenInput(call: Call): Promise<object> {
  try {
    return Object(await call.readInput()) as object
  } catch {
    return {}
  }
}

function textOf(input: object, name: string): string {
  const value = (input as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}

/** Null if any node can respond, from the directory in cell 0. */
async function cellOfAnyone(cells: Cells, call: Call, input: object): Promise<number | null> {
  const { operation } = call
  if (operation === 'reset_password') return cellOfLinkToken(textOf(input, 'token')) ?? 0
  if (operation === 'operator_sign_in') return null
  // Refused there as in any cell, before anything is read.
  if (!isValid(call, input)) return null
  const email = normalizeEmail(textOf(input, 'email'))
  if (operation !== 'create_account') return cells.ofEmail(email)
  if (!(await isWithinRate(cells.home, call))) return null
  return cells.claimForNewAccount(email, call.request.ip)
}

function isValid({ operation, request }: Call, input: object): boolean {
  try {
    validateInput(pipeline_operations[operation], structuredClone(input))
    idempotencyKeyFrom(request.header('idempotency-key'))
    return true
  } catch {
    return false
  }
}

/** Only a call that will not be refused anyway may write to the directory. */
async function isWithinRate(runtime: Runtime, { operation, request }: Call): Promise<boolean> {
  const shape: Operation = pipeline_operations[operation]
  const subject = rateSubjectOf(runtime, { ip: request.ip, operation: shape })
  return (await runtime.limiter.peek(subject.key, subject.policies)).allowed
}
