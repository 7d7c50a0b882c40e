import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionsOf, poolSizesOf } from './databases.ts'

test('the eight workers of the default fit into the 97 connections of a default PostgreSQL', () => {
  assert.deepEqual([2, 3, 4, 5, 6, 8].map(connectionsOf), [52, 57, 62, 73, 72, 90])
  assert.deepEqual(poolSizesOf(2), { service: 7, account: 7, lane_count: 1 })
})
