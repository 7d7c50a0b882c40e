import type { FastifyInstance } from 'fastify'
import { limitRequest } from '#doors/limit_request.ts'
import type { Runtime } from '#operations/runtime.ts'
import { type AnonymousGroup, anonymousSubject } from '#operations/steps/limit_rate.ts'

const groups: Readonly<Record<string, AnonymousGroup>> = {
  '/oauth/authorize': 'authorize',
  '/oauth/authorize/:uid': 'consent',
  '/oauth/interaction/:uid': 'consent',
  '/undo/:token': 'consent',
  '/oauth/token': 'token',
  '/oauth/revoke': 'token',
  '/oauth/register/:clientId': 'token',
  '/three_ds/:id/:token': 'three_ds',
}

/** These routes apply their own limits: by credential, or by address if it is invalid. */
const LIMITED_BY_DOOR = [/^\/v1\//, /^\/mcp$/, /^\/operator\/v1\//, /^\/processor\//, /^\/files\//]
const LIMITED_ELSEWHERE = [
  /^\/sandbox\/v1\//,
  /^\/oauth\/(register|grants|card_reveals)$/,
  /^\/oauth\/grants\//,
]

const isOneOf = (patterns: readonly RegExp[], route: string) =>
  patterns.some((pattern) => pattern.test(route))

/** Other routes, and unknown ones, are limited like the pages of the site. */
function groupOf(route: string): AnonymousGroup | null {
  return isOneOf(LIMITED_ELSEWHERE, route) ? null : (groups[route] ?? 'site')
}

/**
 * Limits every route without a bearer by address, before any other work, and sets the headers of
 * its response. Every response gets a Request-Id; the doors set the other headers themselves.
 */
export function limitAnonymous(app: FastifyInstance, runtime: Runtime): void {
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? ''
    reply.header('Request-Id', request.id)
    // A preflight has no bearer, so no door counts it.
    const isPreflight = request.method === 'OPTIONS'
    if (!isPreflight && isOneOf(LIMITED_BY_DOOR, route)) return done()
    const group = isPreflight ? 'site' : groupOf(route)
    if (group === null) return done()
    const subject = anonymousSubject(group, request.ip)
    limitRequest(runtime, reply, subject).then(() => done(), done)
  })
}
