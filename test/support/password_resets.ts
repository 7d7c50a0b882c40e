import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import { type Reply, send } from './http.ts'
import type { TestService } from './start.ts'

type Mailbox = Pick<TestService, 'url' | 'runtime' | 'tasks'>

export const askForReset = (url: string, email: string, headers: Record<string, string> = {}) =>
  send(url, 'POST', '/v1/password_resets', { body: { email }, headers })

/** The tokens that were emailed to this address, newest first. */
export async function emailedTokens({ runtime, tasks }: Mailbox, email: string): Promise<string[]> {
  await tasks.run(['email_password_resets'])
  const mails = await runtime.db.rows<{ body_text: string }>(
    `select body_text from notices
      where recipient = $1 and kind = 'password_reset_link' order by id desc`,
    [email],
  )
  return mails.map(({ body_text }) => {
    const token = /\/reset_password\?token=([\w-]+)/.exec(body_text)?.[1]
    assert(token !== undefined, body_text)
    return token
  })
}

/** Requests a reset and returns the token of its email, which any node may have made. */
export async function requestReset(service: Mailbox, email: string): Promise<string> {
  let tokens = await emailedTokens(service, email)
  const count = tokens.length
  const reply = await askForReset(service.url, email)
  assert.equal(reply.status, 202, reply.text)
  const isEmailed = async () => {
    tokens = await emailedTokens(service, email)
    return tokens.length > count
  }
  assert(await eventually(isEmailed, { within_ms: 30_000 }), 'the link was emailed')
  return tokens[0] ?? ''
}

export const resetPassword = (url: string, body: object, key?: string): Promise<Reply> =>
  send(url, 'POST', '/v1/password_resets/confirm', { body, ...(key !== undefined && { key }) })
