export type Reply = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: assertions check the shape.
  body: any
  text: string
}

export type RequestOptions = {
  bearer?: string | undefined
  key?: string
  body?: unknown
  /** A body that is sent unchanged, instead of JSON. */
  raw?: string | Uint8Array
  headers?: Record<string, string>
}

/** One request over real HTTP. Paths are relative to the service. */
export async function send(
  url: string,
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<Reply> {
  const headers: Record<string, string> = { ...sent.headers }
  if (sent.bearer !== undefined) headers['authorization'] = `Bearer ${sent.bearer}`
  if (sent.key !== undefined) headers['idempotency-key'] = sent.key
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  if (body !== undefined) headers['content-type'] ??= 'application/json'
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  }
}
