import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '#contract/problem.ts'
import { readJsonBody } from './json_body.ts'

const refusal = async (bytes: Buffer, type: string | undefined) => {
  try {
    await readJsonBody(bytes, type)
  } catch (cause) {
    assert.ok(cause instanceof Problem)
    return `${cause.status} ${cause.code}`
  }
  throw new Error('it was taken')
}

test('no body is an empty object, whatever type is said', async () => {
  assert.deepEqual(await readJsonBody(undefined, undefined), {})
  assert.deepEqual(await readJsonBody(Buffer.alloc(0), 'text/plain'), {})
})

test('JSON is taken under its own type and those made of it', async () => {
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    ' application/json ',
    'application/merge-patch+json',
  ]) {
    assert.deepEqual(await readJsonBody(Buffer.from('{"a":1}'), type), { a: 1 })
  }
})

test('any other type, or none, is a 415', async () => {
  for (const type of [undefined, '', 'text/json', 'application/jsonp', 'text/plain', ';']) {
    assert.equal(await refusal(Buffer.from('{}'), type), '415 unsupported_media_type')
  }
})

test('an unreadable body is a 400', async () => {
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x7b]]) {
    assert.equal(await refusal(Buffer.from(bytes), 'application/json'), '400 invalid_json')
  }
})
