/**
 * Returns one URL per host. A connection URL may list several hosts (h1:5432,h2:5433), which
 * `new URL` rejects. An application_name in it is dropped: `migrate` recognizes nodes by
 * the name that they set themselves. Its options are dropped too, because they would replace those
 * of the pool; the pool adds them to its own.
 */
export function splitHosts(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/.exec(url)
  if (match === null) return [url]
  const [, head = '', hosts = '', tail = ''] = match
  const rest = tail.replace(/(?<=[?&])(?:application_name|options)=[^&]*&?/g, '')
  return hosts.split(',').map((host) => `${head}${host}${rest}`)
}

/** True if a connection can be tried: a port that is no number would fail with a stack trace. */
export const isPostgresUrl = (url: string): boolean =>
  /^postgres(ql)?:\/\/[^/?]/.test(url) && splitHosts(url).every((each) => URL.canParse(each))

export const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))

/** Host, port and database without the login, for messages. */
export function placeOf(url: string): string {
  const match = /^postgres(?:ql)?:\/\/(?:[^@/]*@)?([^?]+)/.exec(url)
  return match?.[1] ?? 'an invalid URL'
}
