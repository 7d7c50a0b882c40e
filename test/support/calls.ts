import assert from 'node:assert/strict'
import type { AuditEntry } from '#contract/activity.ts'
import { type Reply, send } from './http.ts'

/** Status and body of an error response, without its request ID. */
export function refusalOf({ status, body }: Reply): Record<string, unknown> {
  const { request_id, ...rest } = body
  assert.match(String(request_id), /^req_/)
  return { status, ...rest }
}

export function assertRefused(reply: Reply, status: number, error: string): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.body['error'], error)
  assert.equal(typeof reply.body['message'], 'string')
  assert.equal(reply.body['request_id'], reply.headers.get('request-id'))
}

/** The same text with another last character, whatever it ends with. */
export const mistype = (text: string): string =>
  text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a')

/** Advances the clock of the service on every node. */
export async function advance(url: string, bearer: string, seconds: number): Promise<void> {
  const reply = await send(url, 'POST', '/sandbox/v1/clock/advance', { bearer, body: { seconds } })
  assert.equal(reply.status, 200, reply.text)
}

/** The audit log, optionally filtered, oldest first. */
export async function auditLog(url: string, bearer: string, query = ''): Promise<AuditEntry[]> {
  const reply = await send(url, 'GET', `/v1/audit_log?order=asc&limit=100${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data']
}
