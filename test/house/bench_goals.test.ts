import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Goal, goals, isWithin } from '#bench/goals_parts/goals.ts'
import { root } from '#platform/runtime/root.ts'

const goal: Goal = { bench: 'http', ratio: 'calls', goal: 0.6, measured: 0.7 }

test('a ratio below half of its goal fails', () => {
  assert.deepEqual([isWithin(goal, 0.29), isWithin(goal, 0.31)], [false, true])
})

test('while a goal is not met, a ratio below half of the last figure fails', () => {
  const unmet = { ...goal, measured: 0.4 }
  assert.deepEqual([isWithin(unmet, 0.19), isWithin(unmet, 0.21)], [false, true])
})

test('a cost above twice its goal, or twice the last figure, fails', () => {
  const cost: Goal = { ...goal, goal: 1.3, measured: 1.2, is_cost: true }
  assert.deepEqual([isWithin(cost, 2.61), isWithin(cost, 2.59)], [false, true])
  assert(isWithin({ ...cost, measured: 2 }, 3.9))
})

test('a ratio that a bench does not report fails', () => {
  assert(!isWithin(goal, undefined))
})

test('every goal names a bench', () => {
  for (const { bench } of goals) assert(existsSync(join(root, 'bench', `${bench}.ts`)), bench)
})
