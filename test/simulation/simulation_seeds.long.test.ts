import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { simulate } from './simulation.ts'

type KeptSeed = { seed: number; seconds: number; faults: string[]; sentence: string }
const path = join(root, 'test/simulation/seeds.json')
const seeds = JSON.parse(readFileSync(path, 'utf8')) as KeptSeed[]

for (const { seed, seconds, faults, sentence } of seeds) {
  test(`the simulation finds no violation with seed ${seed}: ${sentence}`, async (t) => {
    const { monitor } = await simulate({
      seed,
      seconds,
      faults,
      exact_clients: 8,
      shared_clients: 4,
    })
    t.diagnostic(`${monitor.operations} operations, ${monitor.faults} faults`)
    assert.deepEqual(monitor.violations, [])
    assert(monitor.operations > 50 && monitor.faults > 0, 'clients and faults were at work')
  })
}
