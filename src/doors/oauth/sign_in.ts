import type { FastifyReply } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { Answer } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import { signInPage } from './sign_in_page.ts'
import { switchAccount } from './switch_account.ts'
import { finish, sendPage, type Visit } from './visit.ts'

type Given = { email: string; password: string; totp_code?: string }

type Shown = { email?: string; complaint?: string; carried?: string }

export function showSignIn(visit: Visit, shown: Shown = {}, status = 200): FastifyReply {
  const { programme, client_name, redirect_host, csrf } = visit
  const { mode } = programme.settings
  const text = signInPage({ mode, client_name, redirect_host, csrf, ...shown })
  return sendPage(visit.reply, status, text)
}

export function checkPassword(visit: Visit): Promise<FastifyReply> {
  const email = visit.form.get('email') ?? ''
  const password = visit.form.get('password') ?? ''
  return signIn(visit, { email, password })
}

/** What was typed on the page before comes back sealed; nobody else can have made it. */
export async function checkCode(visit: Visit): Promise<FastifyReply> {
  const { programme, form, interaction } = visit
  const totp_code = form.get('totp_code') ?? ''
  let carried: Given
  try {
    const text = programme.keys.open(PURPOSE, interaction.uid, form.get('carried') ?? '')
    carried = JSON.parse(text) as Given
  } catch {
    return showSignIn(visit, { complaint: 'Sign in once more.' }, 400)
  }
  return signIn(visit, { ...carried, totp_code })
}

const PURPOSE = 'oauth_sign_in'

/** The operation everybody signs in with, so that its limits and its trail hold here too. */
async function signIn(visit: Visit, given: Given): Promise<FastifyReply> {
  const answer = await call(visit, 'sign_in', given, null)
  const body = JSON.parse(answer.body) as Record<string, string>
  if (answer.status !== 200) return complain(visit, given, body)
  // The page needs to know who it is and no more: the session it got is ended again.
  await call(visit, 'sign_out', {}, body['bearer'] ?? '')
  const account_id = String(body['account_id'])
  const signed_in = visit.interaction.session?.accountId
  if (signed_in !== undefined && signed_in !== account_id) return switchAccount(visit)
  return finish(visit, { login: { accountId: account_id, remember: false } })
}

function complain(visit: Visit, given: Given, body: Record<string, string>): FastifyReply {
  const { programme, interaction } = visit
  const { email, password } = given
  const seal = () =>
    programme.keys.seal(PURPOSE, interaction.uid, JSON.stringify({ email, password }))
  switch (body['error']) {
    case 'totp_required':
      return showSignIn(visit, { carried: seal() })
    case 'totp_invalid':
      return showSignIn(visit, { carried: seal(), complaint: body['message'] ?? '' }, 401)
    case 'invalid_request':
      return showSignIn(visit, { email, complaint: 'Enter your e-mail and password.' }, 400)
    default:
      return showSignIn(visit, { email, complaint: body['message'] ?? '' }, 401)
  }
}

function call(
  { programme, facts }: Visit,
  operation: OperationName,
  input: object,
  bearer: string | null,
): Promise<Answer> {
  const request = { ...facts, header: () => null }
  return invoke(programme, { operation, bearer, request, readInput: () => input })
}
