import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import type { SystemHealth } from '#contract/system.ts'
import type { Log } from '#platform/runtime/log.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'
import { requireTool } from '#test/support/tools.ts'

const port = await freePort()
let redis: ChildProcess | undefined

async function startRedis(): Promise<void> {
  redis = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'])
  const isReady = async () =>
    spawnSync('redis-cli', ['-p', String(port), 'ping'])
      .stdout.toString()
      .includes('PONG')
  assert.ok(await eventually(isReady, { within_ms: 20_000 }), 'redis-server did not start')
}

async function killRedis(): Promise<void> {
  if (redis === undefined || redis.exitCode !== null || redis.signalCode !== null) return
  const ended = once(redis, 'exit')
  redis.kill('SIGKILL')
  await ended
}
after(killRedis)

const logged: string[] = []
const log: Log = {
  ...silentLog,
  info: (message) => void logged.push(message),
  error: (message) => void logged.push(message),
}

async function sharedGauge(url: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return /^florin_rate_limits_shared (\d)$/m.exec(text)?.[1]
}

test('without Redis calls are limited per node, and limits are shared again when it is back', async (t) => {
  if (requireTool('redis-server', t) === undefined) return
  await startRedis()
  const { url } = await startTestService({
    env: { FLORIN_RATE_PROFILE: 'conservative', REDIS_URL: `redis://127.0.0.1:${port}` },
    dependencies: { log },
  })
  const { bearer } = await openAccount(url)
  const call = () => send(url, 'GET', '/v1/balance', { bearer })
  const health = async (): Promise<SystemHealth> => {
    const { body } = await send(url, 'GET', '/v1/system/health', { bearer })
    return body as unknown as SystemHealth
  }
  const gauge = () => sharedGauge(url)
  assert.equal((await health()).components.issuer.message, null)

  await killRedis()
  const replies = await Promise.all(Array.from({ length: 30 }, call))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
  const degraded = await health()
  assert.equal(degraded.status, 'degraded')
  assert.match(degraded.components.issuer.message ?? '', /rate limits are counted per node/)
  assert.equal(await gauge(), '0')
  assert.ok(logged.some((line) => line.startsWith('Redis is unavailable')))
  const signIn = () =>
    send(url, 'POST', '/v1/sessions', { body: { email: 'a@b.c', password: 'x' } })
  const refused = await Promise.all(Array.from({ length: 15 }, signIn))
  const statuses = refused.map(({ status }) => status)
  assert.ok(statuses.includes(429), 'this node does not limit locally')
  assert.ok(!statuses.some((status) => status >= 500))

  await startRedis()
  assert.ok(await eventually(async () => (await gauge()) === '1', { within_ms: 10_000 }))
  assert.equal((await call()).status, 200)
  assert.equal((await health()).components.issuer.message, null)
  assert.ok(logged.some((line) => line.startsWith('Redis is available again')))

  redis?.kill('SIGSTOP')
  const began = performance.now()
  assert.equal((await call()).status, 200)
  assert.ok(performance.now() - began < 2_000, 'a hanging Redis delays calls')
  redis?.kill('SIGCONT')
  assert.ok(await eventually(async () => (await gauge()) === '1', { within_ms: 10_000 }))
})

test('a node starts without Redis and shares its limits once Redis is available', async (t) => {
  if (requireTool('redis-server', t) === undefined) return
  await killRedis()
  const { url } = await startTestService({
    env: { FLORIN_RATE_PROFILE: 'default', REDIS_URL: `redis://127.0.0.1:${port}` },
    dependencies: { log },
  })
  const gauge = () => sharedGauge(url)
  assert.equal(await gauge(), '0')
  await openAccount(url)
  await startRedis()
  assert.ok(await eventually(async () => (await gauge()) === '1', { within_ms: 10_000 }))
})
