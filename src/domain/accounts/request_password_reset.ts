import { Problem } from '#contract/problem.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { countAttempt } from '#domain/credentials/guesses.ts'
import { insertResetRequest } from '#domain/credentials/password_reset_store.ts'
import { networkOf } from '#domain/risk/rate_limit.ts'
import { normalizeEmail } from './account.ts'

/** An attacker could otherwise fill a mailbox, or try many addresses. */
const LIMIT = { max: 5, window_ms: 60 * 60_000 }

/**
 * Stores the request without looking for the account, so neither the response nor its time says
 * whether there is one. A task emails the link.
 */
export const requestPasswordReset: Handler<'request_password_reset'> = async (context, input) => {
  const { tx, request, now, settings } = context
  const email = normalizeEmail(input.email)
  if (settings.rate_profile !== 'off') {
    await requireRequestLeft(context, `password_reset|ip|${networkOf(request.ip)}`)
  }
  await requireRequestLeft(context, `password_reset|email|${email}`)
  await insertResetRequest(tx, {
    email,
    ip: request.ip,
    user_agent: request.user_agent,
    request_id: request.id,
    requested_at: now,
  })
  return {}
}

async function requireRequestLeft(
  { tx, keys, now }: Context<null>,
  subject: string,
): Promise<void> {
  const retry_after_s = await countAttempt({ tx, keys, subject, now }, LIMIT)
  if (retry_after_s === null) return
  const message = 'Too many password resets were requested. Try again later.'
  throw new Problem('rate_limited', message, { retry_after_s })
}
