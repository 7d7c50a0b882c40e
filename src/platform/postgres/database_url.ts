/**
 * Returns one URL per host. A connection URL may list several hosts (h1:5432,h2:5433), which
 * `new URL` rejects. An application_name in it is dropped: `migrate` recognizes nodes by
 * the name that they set themselves.
 */
export function splitHosts(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/.exec(url)
  if (match === null) return [url]
  const [, head = '', hosts = '', tail = ''] = match
  const rest = tail.replace(/(?<=[?&])application_name=[^&]*&?/g, '')
  return hosts.split(',').map((host) => `${head}${host}${rest}`)
}
