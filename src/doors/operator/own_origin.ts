import type { FastifyInstance } from 'fastify'
import { routeNotFound } from '#contract/common_problems.ts'

const OPERATORS = /^\/operator(\/|$|\.)/
/** The console's own files, and the paths that monitoring uses. */
const SHARED = /^\/(assets\/|icon\.svg$|healthz$|metrics$)/

/**
 * Gives the console and the operator's API an origin of their own: a script that got into a page
 * for customers then shares no storage with the console. Each host serves its own pages only.
 */
export function keepOperatorApart(app: FastifyInstance, operator_url: string | null): void {
  if (operator_url === null) return
  const { hostname } = new URL(operator_url)
  app.addHook('onRequest', async (request, reply) => {
    const path = decodedPath(request.url)
    const isOperatorHost = request.hostname === hostname
    if (SHARED.test(path) || OPERATORS.test(path) === isOperatorHost) return
    if (isOperatorHost && path === '/') return reply.redirect('/operator')
    throw routeNotFound()
  })
}

/** As the router reads it: `/%6fperator` is a route of the operator too. */
function decodedPath(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  try {
    return decodeURIComponent(path)
  } catch {
    // No route has such a path.
    return path
  }
}
