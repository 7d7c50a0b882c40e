/**
 * A connection address may list several hosts (h1:5432,h2:5433), which `new URL` rejects; so the
 * list is split by hand and each host gets a whole address of its own.
 */
export function splitHosts(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/.exec(url)
  if (match === null) return [url]
  const [, head = '', hosts = '', tail = ''] = match
  return hosts.split(',').map((host) => `${head}${host}${tail}`)
}
