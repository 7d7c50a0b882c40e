import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overdue } from '#platform/postgres/write_lane.ts'
import { problemOf, problemResponse } from './problem_response.ts'

test('a command that waited too long is a 503 with Retry-After', () => {
  const { status, headers, body } = problemResponse(problemOf(new Overdue('late')), 'req_1')
  assert.equal(status, 503)
  assert.equal(headers['Retry-After'], '1')
  assert.equal(JSON.parse(body).error, 'service_unavailable')
})
