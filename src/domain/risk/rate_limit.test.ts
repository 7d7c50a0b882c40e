import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { memoryRateLimiter, networkOf, type RateVerdict, rate_profiles } from './rate_limit.ts'

/** The clock is stopped, so buckets refill only when a test advances it. */
const clock = manualClock()
const env = { FLORIN_RATE_PROFILE: 'default', FLORIN_TRUSTED_PROXIES: '127.0.0.1' }
const { url, runtime } = await startTestService({ env, dependencies: { clock } })

const getAccount = (bearer: string): Promise<Reply> =>
  send(url, 'GET', '/v1/accounts/me', { bearer })

/** Opening accounts is limited too, so a minute passes before each. */
async function openLimitedAccount() {
  clock.advance(60_000)
  return openAccount(url)
}

async function callConcurrently(count: number, call: () => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: count }, call))
}

test('sixty calls a second are allowed; the next one is allowed after Retry-After', async () => {
  const { bearer } = await openLimitedAccount()
  const replies = await callConcurrently(70, () => getAccount(bearer))
  assert.equal(replies.filter(({ status }) => status === 200).length, 60)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 429, 'rate_limited')
    assert.equal(reply.headers.get('retry-after'), '1')
  }
  clock.advance(1_000)
  assert.equal((await getAccount(bearer)).status, 200)
})

test('a thousand calls a minute are allowed, even if they are spread evenly', () => {
  let now_ms = 0
  const limiter = memoryRateLimiter(() => now_ms)
  const take = () => limiter.take('caller', rate_profiles.default) as RateVerdict
  let passed = 0
  let elapsed_s = 0
  // At 40 calls a second the burst bucket never empties; the sustained one refills 1,000 in 60 s.
  for (; elapsed_s < 60; elapsed_s += 1) {
    const verdicts = Array.from({ length: 40 }, take)
    passed += verdicts.filter(({ allowed }) => allowed).length
    if (verdicts.some(({ allowed }) => !allowed)) break
    now_ms += 1_000
  }
  assert.equal(take().allowed, false)
  assert.equal(passed, 1_000 + Math.floor((elapsed_s * 1_000) / 60))
})

test('every response has the policy and the remaining calls, refusals too', async () => {
  const { bearer } = await openLimitedAccount()
  const first = await getAccount(bearer)
  const policy = '"burst";q=60;w=1, "sustained";q=1000;w=60'
  assert.equal(first.headers.get('ratelimit-policy'), policy)
  assert.equal(first.headers.get('ratelimit'), '"sustained";r=999;t=1')
  const missing = await send(url, 'DELETE', '/v1/api_keys/key_none', { bearer })
  assert.equal(missing.headers.get('ratelimit'), '"sustained";r=998;t=1')
  // Unknown routes are counted with the pages of the site.
  const site_policy = '"burst";q=300;w=1, "sustained";q=6000;w=60'
  for (const [path, expected] of [
    ['/v1/accounts/me', policy],
    ['/v1/nowhere', site_policy],
    ['/v1/system/health', policy],
  ] as const) {
    const refused = await send(url, 'GET', path)
    assert.equal(refused.headers.get('ratelimit-policy'), expected, path)
    assert.match(String(refused.headers.get('ratelimit')), /^"sustained";r=\d+;t=\d+$/)
  }
})

test('each credential has buckets of its own', async () => {
  const person = await openLimitedAccount()
  const { key } = await createKey(url, person.bearer)
  clock.advance(1_000)
  await callConcurrently(61, () => getAccount(key))
  assertRefused(await getAccount(key), 429, 'rate_limited')
  assert.equal((await getAccount(person.bearer)).status, 200)
})

test('an IP can open ten accounts and try ten sign-ins a minute', async () => {
  clock.advance(60_000)
  const create = (from: string, at: number) =>
    send(url, 'POST', '/v1/accounts', {
      body: { email: `many_${from}_${at}@example.com`, password: PASSWORD },
      headers: { 'x-forwarded-for': from },
    })
  const replies: Reply[] = []
  for (let at = 0; at < 11; at += 1) replies.push(await create('203.0.113.9', at))
  assert.equal(replies.filter(({ status }) => status === 201).length, 10)
  const last = replies.at(-1)
  assert(last !== undefined)
  assertRefused(last, 429, 'rate_limited')
  assert.equal(last.headers.get('retry-after'), '6')
  assert.equal(last.headers.get('ratelimit-policy'), '"sustained";q=10;w=60')
  assert.equal((await create('203.0.113.10', 0)).status, 201)
  clock.advance(6_000)
  assert.equal((await create('203.0.113.9', 12)).status, 201)

  const body = { email: 'nobody@example.com', password: 'x' }
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  const tries = await callConcurrently(12, () =>
    send(url, 'POST', '/v1/sessions', { body, headers }),
  )
  assert.equal(tries.filter(({ body }) => body['error'] === 'rate_limited').length, 2)
})

test('invalid bearers are limited per IP, so keys cannot be guessed fast', async () => {
  clock.advance(60_000)
  const replies = await callConcurrently(80, () => getAccount('flk_test_nonsense'))
  assert.equal(replies.filter(({ status }) => status === 401).length, 60)
  assert.equal(replies.filter(({ status }) => status === 429).length, 20)
})

test('the conservative profile can be set for one account', async () => {
  const person = await openLimitedAccount()
  await runtime.db.run(`update accounts set rate_profile = 'conservative' where id = $1`, [
    person.account_id,
  ])
  clock.advance(1_000)
  const reply = await getAccount(person.bearer)
  const policy = '"burst";q=100;w=1, "sustained";q=600;w=60'
  assert.equal(reply.headers.get('ratelimit-policy'), policy)
  const replies = await callConcurrently(110, () => getAccount(person.bearer))
  assert.equal(replies.filter(({ status }) => status === 200).length, 99)
})

test('moving the clock of the service refills no bucket', async () => {
  const { bearer } = await openLimitedAccount()
  await callConcurrently(60, () => getAccount(bearer))
  const body = { seconds: 3_600 }
  await send(url, 'POST', '/sandbox/v1/clock/advance', { bearer, body })
  assertRefused(await getAccount(bearer), 429, 'rate_limited')
})

test('addresses of one IPv6 /64 share a bucket', async () => {
  const tries = (from: string) => {
    const headers = { 'x-forwarded-for': from }
    return send(url, 'POST', '/v1/sessions', { body: {}, headers })
  }
  clock.advance(60_000)
  const replies: Reply[] = []
  for (let at = 0; at < 12; at += 1) replies.push(await tries(`2001:db8:1:2::${at.toString(16)}`))
  replies.push(await tries('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.equal(replies.filter(({ status }) => status === 429).length, 3)
  assert.equal((await tries('2001:db8:1:3::1')).status, 400)
  for (let at = 0; at < 10; at += 1) await tries('203.0.113.77')
  assert.equal((await tries('::ffff:203.0.113.77')).status, 429)
})

test('networkOf returns the /64 of an IPv6 address and at most 45 characters', () => {
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(networkOf('1:2:3:4:5:6:7:8'), '1:2:3:4::/64')
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('x:'.repeat(5_000)).length, 45)
})

test('a full table accepts further IPs without a scan', () => {
  let now_ms = 0
  const limiter = memoryRateLimiter(() => now_ms, 100_000)
  const policies = rate_profiles.default
  for (let at = 0; at < 100_000; at += 1) limiter.take(`ip|${at}`, policies)
  const began = performance.now()
  for (let at = 0; at < 5_000; at += 1) limiter.take(`other|${at}`, policies)
  const took_ms = performance.now() - began
  assert.ok(took_ms < 1_000, `5,000 calls took ${took_ms} ms`)
  // Full buckets are dropped, and one in use is kept.
  now_ms = 120_000
  for (let at = 0; at < 70; at += 1) limiter.take('busy', policies)
  for (let at = 0; at < 10_000; at += 1) limiter.take(`later|${at}`, policies)
  const verdict = limiter.take('busy', policies) as RateVerdict
  assert.equal(verdict.allowed, false)
})

test('routes without a bearer are limited per IP, unless the profile is off', async () => {
  const open = await startTestService({ env: { FLORIN_RATE_PROFILE: 'off' } })
  const limited = async (service: { url: string }, method: string, path: string, count: number) => {
    const headers = { 'x-forwarded-for': '198.51.100.7' }
    const calls = Array.from({ length: count }, async () => {
      const reply = await fetch(service.url + path, { method, headers, redirect: 'manual' })
      await reply.arrayBuffer()
      return reply.status
    })
    return (await Promise.all(calls)).filter((status) => status === 429).length
  }
  for (const [method, path, count, passing] of [
    ['GET', '/oauth/authorize?client_id=x', 14, 10],
    ['POST', '/oauth/token', 34, 30],
    ['POST', '/oauth/revoke', 4, 0],
    ['GET', '/oauth/interaction/x', 24, 20],
    ['POST', '/three_ds/chg_x/y', 24, 20],
    ['HEAD', '/openapi.json', 304, 300],
    ['GET', '/nothing/here', 1, 0],
    ['GET', '/.well-known/oauth-authorization-server', 1, 0],
  ] as const) {
    assert.equal(await limited({ url }, method, path, count), count - passing, path)
    assert.equal(await limited(open, method, path, count), 0, path)
  }
})
