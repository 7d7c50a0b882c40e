import type { FastifyRequest } from 'fastify'
import type { Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'

const USER_AGENT_MAX = 300

/** What every door tells of the request it serves. */
export function requestFactsOf(programme: Programme, request: FastifyRequest): Call['request'] {
  return {
    id: programme.newId('req', programme.clock.now()),
    ip: request.ip,
    user_agent: printable(request.headers['user-agent'] ?? ''),
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : (value ?? null)
    },
  }
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, USER_AGENT_MAX)
}
