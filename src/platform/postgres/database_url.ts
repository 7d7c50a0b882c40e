/**
 * Returns one URL per host. A connection URL may list several hosts (h1:5432,h2:5433), which
 * `new URL` rejects.
 */
export function splitHosts(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/.exec(url)
  if (match === null) return [url]
  const [, head = '', hosts = '', tail = ''] = match
  return hosts.split(',').map((host) => `${head}${host}${tail}`)
}
