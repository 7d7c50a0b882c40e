import type { FastifyRequest } from 'fastify'
import type { Call } from '#operations/call.ts'

const USER_AGENT_MAX = 300

/** The request as the pipeline sees it, the same for every door. */
export function requestContextOf(request: FastifyRequest): Call['request'] {
  return {
    id: request.id,
    ip: request.ip,
    user_agent: printable(request.headers['user-agent'] ?? ''),
    idempotency_key: null,
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : (value ?? null)
    },
  }
}

const printable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, USER_AGENT_MAX)
