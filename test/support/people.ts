import { randomBytes } from 'node:crypto'
import { send } from './http.ts'

export const PASSWORD = 'a long enough password'

export type Person = { account_id: string; email: string; bearer: string }

/** A new account, signed in. */
export async function openAccount(url: string): Promise<Person> {
  const email = `person_${randomBytes(5).toString('hex')}@example.com`
  const { status, body, text } = await send(url, 'POST', '/v1/accounts', {
    body: { email, password: PASSWORD },
  })
  if (status !== 201) throw new Error(`the account was not created: ${text}`)
  return { account_id: String(body['id']), email, bearer: String(body['bearer']) }
}

export async function createKey(url: string, bearer: string): Promise<{ id: string; key: string }> {
  const { status, body, text } = await send(url, 'POST', '/v1/api_keys', { bearer, body: {} })
  if (status !== 201) throw new Error(`the API key was not created: ${text}`)
  return { id: String(body['id']), key: String(body['key']) }
}
