import assert from 'node:assert/strict'
import { type Reply, type RequestOptions, send } from './http.ts'

/** The operator token that startTestService sets. */
export const OPERATOR_TOKEN = 'operator_token_of_the_tests'

/** Calls the operator API, with the token of the settings by default. */
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
