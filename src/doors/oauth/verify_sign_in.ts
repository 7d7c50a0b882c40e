import type { OperationName } from '#contract/operations.ts'
import type { ProblemCode } from '#contract/problem.ts'
import type { Response } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { InteractionContext } from './interaction_context.ts'

export type EnteredCredentials = {
  email: string
  password: string
  entered_at: Date
  totp_code?: string
}

export type SignInRefusal = { problem_code: ProblemCode; message: string }

type SignInResult = { account_id: string } | SignInRefusal

/** Uses the sign_in operation, so its rate limits and audit entries apply here too. */
export async function verifySignIn(
  context: InteractionContext,
  entered: EnteredCredentials,
): Promise<SignInResult> {
  const { entered_at: _entered_at, ...input } = entered
  const response = await call(context, 'sign_in', input, null)
  const { problem_code } = response
  const body = JSON.parse(response.body) as Record<string, string>
  if (problem_code !== null) return { problem_code, message: String(body['message']) }
  // Only the account ID is needed, so the new session is ended immediately.
  await call(context, 'sign_out', {}, body['bearer'] ?? '')
  return { account_id: String(body['account_id']) }
}

function call(
  { runtime, request_context }: InteractionContext,
  operation: OperationName,
  input: object,
  bearer: string | null,
): Promise<Response> {
  const request = { ...request_context, header: () => null }
  return invoke(runtime, { operation, bearer, request, readInput: () => input })
}

const PURPOSE = 'oauth_sign_in'

/** Encrypts the email and password between the password page and the code page. */
export function sealCredentials(
  { runtime, interaction }: InteractionContext,
  entered: EnteredCredentials,
): string {
  const { email, password, entered_at } = entered
  const text = JSON.stringify({ email, password, entered_at })
  return runtime.keys.seal(PURPOSE, interaction.uid, text)
}

export function openCredentials({
  runtime,
  interaction,
  form,
}: InteractionContext): EnteredCredentials | null {
  try {
    const text = runtime.keys.open(PURPOSE, interaction.uid, form.get('sealed_credentials') ?? '')
    const credentials = JSON.parse(text) as { email: string; password: string; entered_at: string }
    return { ...credentials, entered_at: new Date(credentials.entered_at) }
  } catch {
    return null
  }
}
