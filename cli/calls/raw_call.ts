import type { Connection } from '#cli/profiles/connection.ts'
import { withProgress } from '#cli/progress.ts'
import { FlorinError } from '#client/client.ts'
import { errorFromResponse } from '#client/error.ts'

/** Calls an endpoint outside the 52 operations: the operator API or the sandbox API. */
export async function rawCall<ResponseBody>(
  { url, bearer }: Connection,
  target: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
  body?: object,
  extra_headers: Readonly<Record<string, string>> = {},
): Promise<ResponseBody> {
  const [method = '', path = ''] = target.split(' ')
  const headers = {
    ...extra_headers,
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = async () => {
    const response = await fetch(url + path, { method, headers, ...sent })
    return { response, text: await response.text() }
  }
  const { response, text } = await withProgress('Waiting for the server', request).catch(
    (cause) => {
      throw new FlorinError({ code: 'network_error', message: `Could not reach ${url}.`, cause })
    },
  )
  if (!response.ok) throw errorFromResponse(response, text)
  return (text === '' ? undefined : JSON.parse(text)) as ResponseBody
}
