import type { FastifyInstance } from 'fastify'

type Route = { parts: readonly string[]; methods: Set<string> }

/**
 * Records the methods of each route, for the Allow header. Call it before doors mount their routes.
 * Wildcard routes (`*`) are skipped, because they don't show which paths exist.
 */
export function recordMethods(app: FastifyInstance): (path: string) => string[] {
  const routes = new Map<string, Route>()
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const route = routes.get(url) ?? { parts: url.split('/'), methods: new Set() }
    for (const each of [method].flat()) route.methods.add(each)
    routes.set(url, route)
  })
  return (path) => {
    const parts = path.split('/')
    const matching = [...routes.values()].filter((route) => matchesRoute(route.parts, parts))
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))]
  }
}

function matchesRoute(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false
  return pattern.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
}
