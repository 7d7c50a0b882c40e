import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'
import { requireTool } from '#test/support/tools.ts'

const DEFAULT_POLICY = '"burst";q=60;w=1, "sustained";q=1000;w=60'
const CONSERVATIVE_POLICY = '"burst";q=100;w=1, "sustained";q=600;w=60'

async function start(rate_profile: string, env: Record<string, string> = {}) {
  const clock = manualClock()
  const service = await startTestService({
    env: { FLORIN_RATE_PROFILE: rate_profile, ...env },
    dependencies: { clock },
  })
  return { ...service, clock }
}

/** Most tests share it; each begins with a minute in which every bucket fills up again. */
const shared = await start('default')

function rested() {
  shared.clock.advance(60_000)
  return shared
}

/** Sends calls concurrently at one reading of the clock. */
const storm = (count: number, call: () => Promise<Reply>) =>
  Promise.all(Array.from({ length: count }, call))

const countOf = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

const me = (url: string, bearer: string, sent: RequestOptions = {}) =>
  send(url, 'GET', '/v1/accounts/me', { bearer, ...sent })

/** r and t of the RateLimit header, which must have exactly this form. */
function rateOf(reply: Reply): { remaining: number; reset_s: number } {
  const match = /^"sustained";r=(\d+);t=(\d+)$/.exec(reply.headers.get('ratelimit') ?? '')
  assert.ok(match, String(reply.headers.get('ratelimit')))
  return { remaining: Number(match[1]), reset_s: Number(match[2]) }
}

test('default: 60 in one second and 1000 in one minute, and get_limits says so', async () => {
  const { url, clock } = rested()
  const { bearer } = await openAccount(url)
  clock.advance(60_000)

  const first = await me(url, bearer)
  assert.equal(first.headers.get('ratelimit-policy'), DEFAULT_POLICY)
  assert.deepEqual(rateOf(first), { remaining: 999, reset_s: 1 })
  const burst = await storm(99, () => me(url, bearer))
  assert.equal(countOf(burst, 200), 59)
  assert.equal(countOf(burst, 429), 40)
  for (const reply of burst.filter(({ status }) => status === 429)) {
    assertRefused(reply, 429, 'rate_limited')
    assert.equal(reply.headers.get('retry-after'), '1')
    assert.equal(reply.headers.get('ratelimit-policy'), DEFAULT_POLICY)
    assert.deepEqual(rateOf(reply), { remaining: 940, reset_s: 4 })
  }

  // As Retry-After says, calls are allowed again after a second.
  clock.advance(1_000)
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer })
  const rate_limits = limits.body['rate_limits'] as Record<string, number>
  assert.equal(rate_limits['burst_per_second'], 60)
  assert.equal(rate_limits['sustained_per_minute'], 1_000)
  assert.equal(rate_limits['remaining'], rateOf(limits).remaining)

  let allowed = 61
  for (let second = 0; second < 25; second += 1) {
    allowed += countOf(await storm(60, () => me(url, bearer)), 200)
    clock.advance(1_000)
  }
  // 1000 immediately, and one more for each 60 ms of the 26 seconds.
  assert.ok(allowed >= 1_000 + 26_000 / 60 - 61 && allowed <= 1_000 + 26_000 / 60 + 1, `${allowed}`)
  clock.advance(60_000)
  assert.equal(countOf(await storm(100, () => me(url, bearer)), 200), 60)
})

test('conservative: 100 in one second and 600 in one minute', async () => {
  const { url, clock } = await start('conservative')
  const { bearer } = await openAccount(url)
  const first = await me(url, bearer)
  assert.equal(first.headers.get('ratelimit-policy'), CONSERVATIVE_POLICY)
  assert.equal(countOf(await storm(150, () => me(url, bearer)), 200), 99)
  let allowed = 100
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1_000)
    allowed += countOf(await storm(110, () => me(url, bearer)), 200)
  }
  // Within five seconds, the sustained limit allows 50 more.
  assert.equal(allowed, 600)
  clock.advance(1_000)
  const replies = await storm(100, () => me(url, bearer))
  const refused = replies.find(({ status }) => status === 429)
  // The burst limit would allow 100; of the sustained 600 and 60 more in six seconds, 60 are left.
  assert.equal(countOf(replies, 200), 60)
  assert.equal(refused?.headers.get('retry-after'), '1')
})

test('each credential has buckets of its own, whatever address it calls from', async () => {
  const { url, clock } = rested()
  const ada = await openAccount(url)
  const { key } = await createKey(url, ada.bearer)
  const bob = await openAccount(url)
  clock.advance(60_000)
  assert.equal(countOf(await storm(70, () => me(url, ada.bearer)), 200), 60)
  assert.equal((await me(url, ada.bearer)).status, 429)
  assert.equal((await me(url, key)).status, 200)
  assert.equal((await me(url, bob.bearer)).status, 200)
})

test('a call that the credential may not make counts like any other', async () => {
  const { url, clock } = rested()
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  clock.advance(60_000)
  const replies = await storm(70, () => send(url, 'DELETE', '/v1/sessions', { bearer: key }))
  assert.equal(countOf(replies, 403), 60)
  assert.equal(countOf(replies, 429), 10)
  for (const reply of replies) assert.equal(reply.headers.get('ratelimit-policy'), DEFAULT_POLICY)
})

test('bearers that nobody has are limited by address', async () => {
  const { url } = rested()
  const replies = await storm(70, () => me(url, 'flk_nobody'))
  assert.equal(countOf(replies, 401), 60)
  assert.equal(countOf(replies, 429), 10)
})

test('opening accounts and signing in: ten a minute and address, each', async () => {
  const { url, clock } = rested()
  for (const path of ['/v1/accounts', '/v1/sessions']) {
    const replies = await storm(14, () => send(url, 'POST', path, { body: {} }))
    assert.equal(countOf(replies, 400), 10, path)
    assert.equal(countOf(replies, 429), 4, path)
    const refused = replies.find(({ status }) => status === 429)
    assert.equal(refused?.headers.get('ratelimit-policy'), '"sustained";q=10;w=60')
    assert.equal(refused?.headers.get('retry-after'), '6')
    assert.equal(refused?.headers.get('ratelimit'), '"sustained";r=0;t=60')
    clock.advance(6_000)
    assert.equal((await send(url, 'POST', path, { body: {} })).status, 400)
    assert.equal((await send(url, 'POST', path, { body: {} })).status, 429)
  }
})

test('a refused request names the limit that refused it, on every route', async () => {
  const { url, clock } = rested()
  const { bearer } = await openAccount(url)
  const body = { redirect_uris: ['https://app.example/callback'] }
  const register = () => send(url, 'POST', '/oauth/register', { body })
  const limits: [count: number, policy: string, remaining: number, call: () => Promise<Reply>][] = [
    [24, '"sustained";q=20;w=60', 0, register],
    [34, '"burst";q=30;w=1, "sustained";q=300;w=60', 270, () => send(url, 'POST', '/oauth/token')],
    [64, DEFAULT_POLICY, 940, () => send(url, 'GET', '/oauth/grants', { bearer })],
    [64, DEFAULT_POLICY, 940, () => rpc(url, 'ping', {}, { bearer })],
  ]
  for (const [count, policy, remaining, call] of limits) {
    clock.advance(60_000)
    const replies = await storm(count, call)
    assert.equal(countOf(replies, 429), 4, policy)
    for (const refused of replies.filter(({ status }) => status === 429)) {
      assertRefused(refused, 429, 'rate_limited')
      assert.equal(refused.headers.get('ratelimit-policy'), policy)
      assert.equal(rateOf(refused).remaining, remaining)
    }
  }
})

test('X-Forwarded-For is not believed, so nobody is limited by what they write there', async () => {
  const { url } = rested()
  let at = 0
  const replies = await storm(14, () => {
    at += 1
    const headers = { 'x-forwarded-for': `203.0.113.${at}`, forwarded: `for=203.0.113.${at}` }
    return send(url, 'POST', '/v1/sessions', { body: {}, headers })
  })
  assert.equal(countOf(replies, 429), 4)
})

test('behind a trusted proxy the address is the one that the proxy names', async () => {
  const { url } = await start('default', { FLORIN_TRUSTED_PROXIES: '127.0.0.1' })
  const from = (address: string) =>
    send(url, 'POST', '/v1/sessions', { body: {}, headers: { 'x-forwarded-for': address } })
  assert.equal(countOf(await storm(14, () => from('203.0.113.1')), 429), 4)
  assert.equal((await from('203.0.113.2')).status, 400)
  // Only the last hop is trusted: a caller can send any addresses before it.
  assert.equal((await from('203.0.113.99, 203.0.113.1')).status, 429)
})

test('off lifts every limit, and the headers still show the policy', async () => {
  const { url } = await start('off')
  const { bearer } = await openAccount(url)
  const replies = await storm(150, () => me(url, bearer))
  assert.equal(countOf(replies, 200), 150)
  assert.equal(replies[0]?.headers.get('ratelimit-policy'), DEFAULT_POLICY)
  rateOf(replies[0] as Reply)
  assert.equal(
    countOf(await storm(30, () => send(url, 'POST', '/v1/sessions', { body: {} })), 400),
    30,
  )
  assert.equal(countOf(await storm(100, () => me(url, 'flk_nobody')), 401), 100)
})

test('the profile that the operator gave an account goes before the standard one', async () => {
  const { url, runtime } = rested()
  const { bearer, account_id } = await openAccount(url)
  await runtime.db.run(`update accounts set rate_profile = 'conservative' where id = $1`, [
    account_id,
  ])
  runtime.credentials.forget(account_id)
  const reply = await me(url, bearer)
  assert.equal(reply.headers.get('ratelimit-policy'), CONSERVATIVE_POLICY)
})

test('two nodes with one Redis share the buckets', async (t) => {
  if (requireTool('redis-server', t) === undefined) return
  const port = await freePort()
  const redis = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'])
  after(async () => {
    redis.kill('SIGTERM')
    await once(redis, 'exit')
  })
  const answers = async () =>
    spawnSync('redis-cli', ['-p', String(port), 'ping'])
      .stdout?.toString()
      .includes('PONG') ?? false
  assert.ok(await eventually(answers, { within_ms: 20_000 }))
  const env = { REDIS_URL: `redis://127.0.0.1:${port}` }
  const one = await start('conservative', env)
  const two = await startTestService({
    env: { FLORIN_RATE_PROFILE: 'conservative', ...env },
    database_url: one.database_url,
    data_dir: one.data_dir,
  })
  const { bearer } = await openAccount(one.url)
  const began = performance.now()
  const replies = await Promise.all([
    storm(40, () => me(one.url, bearer)),
    storm(40, () => me(two.url, bearer)),
  ])
  assert.equal(countOf(replies.flat(), 200), 80)
  const last = await me(two.url, bearer)
  const refilled = ((performance.now() - began) / 1_000) * (600 / 60)
  const [, left] = /;r=(\d+);/.exec(last.headers.get('ratelimit') ?? '') ?? []
  assert.ok(Number(left) <= 600 - 81 + refilled + 1, `${left} are left`)
})
