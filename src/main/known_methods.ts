import type { FastifyInstance } from 'fastify'

type Address = { parts: readonly string[]; methods: Set<string> }

/**
 * Which methods work at a path, for whoever came with another one. Doors mount after this; a path
 * that is open at its end (`*`) says nothing of what is really there.
 */
export function rememberMethods(app: FastifyInstance): (path: string) => string[] {
  const addresses = new Map<string, Address>()
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const address = addresses.get(url) ?? { parts: url.split('/'), methods: new Set() }
    for (const each of [method].flat()) address.methods.add(each)
    addresses.set(url, address)
  })
  return (path) => {
    const parts = path.split('/')
    const there = [...addresses.values()].filter((address) => leadsTo(address.parts, parts))
    return [...new Set(there.flatMap(({ methods }) => [...methods]))]
  }
}

function leadsTo(route: readonly string[], parts: readonly string[]): boolean {
  if (route.length !== parts.length) return false
  return route.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
}
