import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorGetHealth } from './operator_get_health.ts'

const room = await openMoneyRoom()
const up = { status: 'operational', message: null, latency_ms: 1 } as const
const healthWith = async (rails: 'operational' | 'outage') => {
  const probes = {
    issuer: async () => up,
    network: async () => ({ ...up, chain: 'tron', block_height: 1, lag_seconds: 0 }),
    rails: async () => ({ ...up, status: rails }),
  }
  return (await room.operate((context) => operatorGetHealth({ ...context, probes }, {}))).value
}

test('operators see the same components, version and time as customers', async () => {
  const health = await healthWith('operational')
  assert.deepEqual(Object.keys(health.components), ['issuer', 'rails', 'network'])
  assert.deepEqual(
    [health.status, health.version, health.checked_at],
    ['operational', room.dependencies.settings.version, room.clock.now().toISOString()],
  )
})

test('one component down degrades the service', async () => {
  const health = await healthWith('outage')
  assert.deepEqual([health.status, health.components.rails.status], ['degraded', 'outage'])
})
