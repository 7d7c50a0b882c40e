import type { OperationName } from '#contract/operations.ts'
import type { Answer } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { InteractionContext } from './interaction_context.ts'

export type TypedIn = { email: string; password: string; entered_at: Date; totp_code?: string }

type Verified = { account_id: string } | { error: string; message: string }

/** Uses the sign_in operation, so its rate limits and audit entries apply here too. */
export async function verifySignIn(visit: InteractionContext, typed: TypedIn): Promise<Verified> {
  const { entered_at: _entered_at, ...input } = typed
  const answer = await call(visit, 'sign_in', input, null)
  const body = JSON.parse(answer.body) as Record<string, string>
  if (answer.status !== 200) return { error: body['error'] ?? '', message: body['message'] ?? '' }
  // Only the account ID is needed, so the new session is ended right away.
  await call(visit, 'sign_out', {}, body['bearer'] ?? '')
  return { account_id: String(body['account_id']) }
}

function call(
  { runtime, facts }: InteractionContext,
  operation: OperationName,
  input: object,
  bearer: string | null,
): Promise<Answer> {
  const request = { ...facts, header: () => null }
  return invoke(runtime, { operation, bearer, request, readInput: () => input })
}

const PURPOSE = 'oauth_sign_in'

/** Encrypts the email and password between the password page and the code page. */
export function sealCarried({ runtime, interaction }: InteractionContext, typed: TypedIn): string {
  const { email, password, entered_at } = typed
  const text = JSON.stringify({ email, password, entered_at })
  return runtime.keys.seal(PURPOSE, interaction.uid, text)
}

export function openCarried({ runtime, interaction, form }: InteractionContext): TypedIn | null {
  try {
    const text = runtime.keys.open(PURPOSE, interaction.uid, form.get('carried') ?? '')
    const carried = JSON.parse(text) as { email: string; password: string; entered_at: string }
    return { ...carried, entered_at: new Date(carried.entered_at) }
  } catch {
    return null
  }
}
