import type { FastifyInstance } from 'fastify'

type Part = string | RegExp
type Route = { parts: readonly Part[]; methods: Set<string> }

/**
 * Records the methods of each route, for the Allow header. Call it before doors mount their routes.
 * Wildcard routes (`*`) are skipped, because they don't show which paths exist.
 */
export function recordMethods(app: FastifyInstance): (path: string) => string[] {
  const routes = new Map<string, Route>()
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const route = routes.get(url) ?? { parts: url.split('/').map(partOf), methods: new Set() }
    for (const each of [method].flat()) route.methods.add(each)
    routes.set(url, route)
  })
  return (path) => {
    const parts = path.split('/')
    const matching = [...routes.values()].filter((route) => matchesRoute(route.parts, parts))
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))]
  }
}

/** A parameter matches its own pattern, or everything. */
function partOf(part: string): Part {
  if (!part.startsWith(':')) return part
  return new RegExp(/\((.*)\)$/.exec(part)?.[1] ?? '.')
}

function matchesRoute(route: readonly Part[], parts: readonly string[]): boolean {
  if (route.length !== parts.length) return false
  return route.every((part, at) =>
    typeof part === 'string' ? part === parts[at] : part.test(parts[at] ?? ''),
  )
}
