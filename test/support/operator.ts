import assert from 'node:assert/strict'
import { type Reply, type RequestOptions, send } from './http.ts'

/** What startTestService sets. */
export const OPERATOR_TOKEN = 'operator_token_of_the_tests'

/** A call of the operator's surface, as the first operator unless another token is given. */
export function operate(
  url: string,
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<Reply> {
  return send(url, method, `/operator/v1${path}`, { bearer: OPERATOR_TOKEN, ...sent })
}

export async function setKillSwitch(url: string, rail: string, on: boolean): Promise<void> {
  const reply = await operate(url, 'PUT', `/kill_switches/${rail}`, {
    body: { on, reason: 'a test' },
  })
  assert.equal(reply.status, 200, reply.text)
}
