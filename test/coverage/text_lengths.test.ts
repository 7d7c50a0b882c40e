import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator_operations } from '#contract/operator/operations.ts'
import { ProcessorChallenge, ProcessorMessage } from '#doors/processor/shapes.ts'
import { assertRefused } from '#test/support/calls.ts'
import { shapes } from '#test/support/contract.ts'
import { send } from '#test/support/http.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)

type Schema = { pattern?: string; format?: string; maxLength?: number; type?: string }

/** Every schema inside one, with the way to it. */
function* schemasIn(value: unknown, way: string): Generator<[string, Schema]> {
  if (typeof value !== 'object' || value === null) return
  yield [way, value as Schema]
  for (const [name, member] of Object.entries(value)) yield* schemasIn(member, `${way}.${name}`)
}

test('every text that is judged by a pattern or a format has a length that is judged before', () => {
  const inputs: [string, unknown][] = [
    ...shapes.map(({ name, input }): [string, unknown] => [name, input]),
    ...Object.values(operator_operations).map(({ name, input }): [string, unknown] => [
      name,
      input,
    ]),
    ['processor_message', ProcessorMessage],
    ['processor_challenge', ProcessorChallenge],
  ]
  const unbounded = inputs
    .flatMap(([name, input]) => [...schemasIn(input, name)])
    .filter(
      ([, { type, pattern, format }]) => type === 'string' && (pattern ?? format) !== undefined,
    )
    .filter(([, { maxLength }]) => maxLength === undefined)
  assert.deepEqual(
    unbounded.map(([way]) => way),
    [],
  )
})

test('an email of megabytes is a 400, without running its pattern', async () => {
  const email = `a@a${'.a'.repeat(4_000_000)}`
  const body = { email, current_password: PASSWORD }
  const reply = await send(url, 'PATCH', '/v1/accounts/me', { bearer, body })
  assertRefused(reply, 400, 'invalid_request')
  assert.deepEqual(reply.body['details'], [
    { field: 'email', message: 'must not have more than 254 characters' },
  ])
  const small = { email: `a@a${'.a'.repeat(30_000)}`, password: PASSWORD }
  assertRefused(await send(url, 'POST', '/v1/accounts', { body: small }), 400, 'invalid_request')
})
