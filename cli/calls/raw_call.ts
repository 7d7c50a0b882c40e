import type { Connection } from '#cli/profiles/connection.ts'
import { FlorinError } from '#client/client.ts'
import { errorIn } from '#client/error.ts'

/** A call of what is not one of the 52: the sandbox's levers, the operator's surface. */
export async function rawCall<Answer>(
  { url, bearer }: Connection,
  target: `${'GET' | 'POST' | 'PUT' | 'PATCH'} /${string}`,
  body?: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const [method = '', path = ''] = target.split(' ')
  const headers = {
    ...more,
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url + path, { method, headers, ...sent }).catch((cause) => {
    throw new FlorinError({ code: 'network_error', message: `${url} could not be reached.`, cause })
  })
  const text = await response.text()
  if (!response.ok) throw errorIn(response, text)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}
