import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SystemHealth } from '#contract/system.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { type ComponentHealth, disconnectedProbes, type Probes } from '#platform/runtime/health.ts'
import { assertRefused } from '#test/support/calls.ts'
import { cuttableLine } from '#test/support/cuttable.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { setKillSwitch } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime } = await startTestService()

async function healthOf(bearer: string, at = url): Promise<SystemHealth> {
  const { status, body, text } = await send(at, 'GET', '/v1/system/health', { bearer })
  assert.equal(status, 200, text)
  return body as unknown as SystemHealth
}

test('it shows issuer, rails and network with the time of the check', async () => {
  const { bearer } = await openAccount(url)
  const before = runtime.clock.now().toISOString()
  const health = await healthOf(bearer)
  assert.deepEqual(Object.keys(health).sort(), [
    'checked_at',
    'components',
    'maintenance',
    'status',
    'version',
  ])
  const { issuer, rails, network } = health.components
  assert.deepEqual(Object.keys(issuer).sort(), ['latency_ms', 'message', 'status'])
  assert.deepEqual(Object.keys(rails).sort(), ['latency_ms', 'message', 'status'])
  assert.deepEqual(Object.keys(network).sort(), [
    'block_height',
    'chain',
    'lag_seconds',
    'message',
    'status',
  ])
  assert.deepEqual(health.maintenance, [])
  assert.match(health.version, /^\d+\.\d+\.\d+/)
  assert(health.checked_at >= before && health.checked_at <= runtime.clock.now().toISOString())
})

test('each call measures the components again', async () => {
  const { bearer } = await openAccount(url)
  const bare = disconnectedProbes(runtime.db, runtime.clock)
  const latencies = new Set<number | null>()
  for (let at = 0; at < 12; at += 1) latencies.add((await bare.rails()).latency_ms)
  assert(latencies.size > 1, 'a latency that never changes was not measured')
  for (const latency_ms of latencies) assert(latency_ms !== null && latency_ms > 0)
  const first = await healthOf(bearer)
  assert((await healthOf(bearer)).checked_at >= first.checked_at)
})

test('the chains are read at the start, so a new service is healthy', async () => {
  const clock = { ...systemClock(), every: () => () => undefined }
  const fresh = await startTestService({ dependencies: { clock } })
  const { bearer } = await openAccount(fresh.url)
  const isWell = async () => (await healthOf(bearer, fresh.url)).status === 'operational'
  assert(await eventually(isWell, { within_ms: 20_000 }))
})

/** Probes with a fixed result. */
function probesWith(statuses: readonly ComponentHealth['status'][]): Probes {
  const [issuer = 'operational', rails = 'operational', network = 'operational'] = statuses
  const part = (status: ComponentHealth['status']) => ({ status, message: null, latency_ms: 1 })
  return {
    issuer: async () => part(issuer),
    rails: async () => part(rails),
    network: async () => ({ ...part(network), chain: 'tron', block_height: 1, lag_seconds: 0 }),
  }
}

test('one component down is degraded, all down an outage, none down operational', async () => {
  const cases = [
    [['operational', 'operational', 'operational'], 'operational'],
    [['outage', 'operational', 'operational'], 'degraded'],
    [['operational', 'degraded', 'operational'], 'degraded'],
    [['outage', 'outage', 'degraded'], 'degraded'],
    [['outage', 'outage', 'outage'], 'outage'],
    [['operational', 'maintenance', 'operational'], 'maintenance'],
  ] as const
  const service = await startTestService()
  const { bearer } = await openAccount(service.url)
  for (const [statuses, expected] of cases) {
    Object.assign(service.runtime.probes, probesWith(statuses))
    assert.equal((await healthOf(bearer, service.url)).status, expected)
  }
})

test('a part that the operator has paused degrades its component, which says so', async () => {
  const service = await startTestService()
  const { bearer } = await openAccount(service.url)
  Object.assign(service.runtime.probes, probesWith([]))
  await setKillSwitch(service.url, 'withdrawals', true)
  await setKillSwitch(service.url, 'authorizations', true)
  const paused = await healthOf(bearer, service.url)
  const { issuer, rails, network } = paused.components
  assert.equal(paused.status, 'degraded')
  assert.deepEqual(
    [issuer.message, rails.message],
    [
      'The operator has temporarily paused card payments.',
      'The operator has temporarily paused withdrawals.',
    ],
  )
  assert.equal(network.status, 'operational')
  await setKillSwitch(service.url, 'withdrawals', false)
  await setKillSwitch(service.url, 'authorizations', false)
  assert.equal((await healthOf(bearer, service.url)).status, 'operational')
})

test('a missing bearer is refused', async () => {
  assertRefused(await send(url, 'GET', '/v1/system/health'), 401, 'missing_token')
})

test('without its database the service returns 503 and recovers by itself', async () => {
  const database = await cloneDatabase()
  const line = await cuttableLine(database.url)
  const service = await startTestService({ database_url: line.url })
  const { bearer } = await openAccount(service.url)
  const ask = () => send(service.url, 'GET', '/v1/system/health', { bearer })
  assert.equal((await ask()).status, 200)
  await line.cut()
  const isRefused = async () => (await ask()).status === 503
  assert(await eventually(isRefused, { within_ms: 20_000 }))
  const started = performance.now()
  const down = await ask()
  assertRefused(down, 503, 'service_unavailable')
  assert(Number(down.headers.get('retry-after')) >= 1)
  assert(performance.now() - started < 5_000, 'it does not hang')
  await line.mend()
  const isBack = async () => (await ask()).status === 200
  assert(await eventually(isBack, { within_ms: 20_000 }))
  await service.stop()
  await database.drop()
})
