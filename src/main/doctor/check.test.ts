import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Note, runCheck } from './check.ts'

const run = (result: () => string | Note) =>
  runCheck({ name: 'disk', cure: 'Free some space.', run: async () => result() })

test('a check that passes, or notes something, has no fix', async () => {
  assert.deepEqual(await run(() => '7 GiB free'), {
    name: 'disk',
    state: 'ok',
    found: '7 GiB free',
    cure: null,
  })
  const noted = await run(() => new Note('it is small'))
  assert.deepEqual([noted.state, noted.found, noted.cure], ['note', 'it is small', null])
})

test('a failed check has its fix, and an error without a message shows its code and cause', async () => {
  const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' })
  const { state, found, cure } = await run(() => {
    throw new Error('fetch failed', { cause: refused })
  })
  const fault = ['wrong', 'fetch failed: ECONNREFUSED', 'Free some space.']
  assert.deepEqual([state, found, cure], fault)
})
