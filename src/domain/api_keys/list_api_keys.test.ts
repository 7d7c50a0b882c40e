import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiKey } from '#contract/api_keys.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, tasks, runtime } = await startTestService()

const list = (bearer: string, query = ''): Promise<Reply> =>
  send(url, 'GET', `/v1/api_keys${query}`, { bearer })

const rowsOf = ({ body }: Reply): ApiKey[] => body['data']
const idsOf = (reply: Reply): string[] => rowsOf(reply).map(({ id }) => id)

async function createKeys(bearer: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) ids.push((await createKey(url, bearer)).id)
  return ids
}

/** Follows the cursors to the end and calls `between` before each further page. */
async function walk(
  bearer: string,
  query: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const ids: string[] = []
  let reply = await list(bearer, `?${query}`)
  for (;;) {
    ids.push(...idsOf(reply))
    const { next_cursor, has_more } = reply.body
    assert.equal(has_more, next_cursor !== null)
    if (next_cursor === null) return ids
    await between()
    reply = await list(bearer, `?${query}&cursor=${next_cursor}`)
  }
}

test('keys are listed newest first, with their prefix and never the key', async () => {
  const { bearer } = await openAccount(url)
  const first = await createKey(url, bearer)
  const second = await createKey(url, bearer)
  const reply = await list(bearer)
  assert.equal(reply.status, 200)
  assert.deepEqual(Object.keys(reply.body).sort(), ['data', 'has_more', 'next_cursor'])
  assert.deepEqual(idsOf(reply), [second.id, first.id])
  assert.deepEqual(Object.keys(rowsOf(reply)[0] ?? {}), [
    'id',
    'name',
    'prefix',
    'status',
    'last_used_at',
    'last_used_ip',
    'created_at',
    'revoked_at',
  ])
  assert(!reply.text.includes(first.key) && !reply.text.includes(second.key))
  assert(second.key.startsWith(rowsOf(reply)[0]?.prefix ?? '-'))
})

test('an account without keys has an empty list even if other accounts have keys', async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  await createKey(url, ada.bearer)
  const reply = await list(bob.bearer)
  assert.deepEqual(reply.body, { data: [], next_cursor: null, has_more: false })
})

test('the status filter takes one or both statuses and refuses anything else', async () => {
  const { bearer } = await openAccount(url)
  const [dead = '', alive = ''] = await createKeys(bearer, 2)
  await send(url, 'DELETE', `/v1/api_keys/${dead}`, { bearer })
  assert.deepEqual(idsOf(await list(bearer, '?status=active')), [alive])
  const revoked = await list(bearer, '?status=revoked')
  assert.deepEqual(idsOf(revoked), [dead])
  assert.match(String(rowsOf(revoked)[0]?.revoked_at), /Z$/)
  assert.deepEqual(idsOf(await list(bearer, '?status=active,revoked')), [alive, dead])
  for (const status of ['', 'gone', 'active,', 'active,gone', 'ACTIVE']) {
    assertRefused(await list(bearer, `?status=${status}`), 400, 'invalid_request')
  }
})

test('pages in either order neither repeat nor skip a key while keys are added', async () => {
  const { bearer } = await openAccount(url)
  const made = await createKeys(bearer, 30)
  const down = await walk(bearer, 'limit=7', () => createKeys(bearer, 2))
  assert.deepEqual(down, made.toReversed())

  // In ascending order the walk also reaches the keys that are added meanwhile.
  let left = 3
  const up = await walk(bearer, 'limit=7&order=asc', async () => {
    if (left-- > 0) await createKeys(bearer, 3)
  })
  const all = await walk(bearer, 'limit=100&order=asc')
  assert.deepEqual(up, all)
  assert.equal(all.length, 30 + 4 * 2 + 3 * 3)
})

test('a page has 25 rows, or a limit from 1 to 100', async () => {
  const { bearer } = await openAccount(url)
  await createKeys(bearer, 26)
  const standard = await list(bearer)
  assert.equal(idsOf(standard).length, 25)
  assert.equal(standard.body['has_more'], true)
  const exact = await list(bearer, '?limit=26')
  assert.equal(idsOf(exact).length, 26)
  assert.equal(exact.body['has_more'], false)
  assert.equal(idsOf(await list(bearer, '?limit=1')).length, 1)
  for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1e9']) {
    assertRefused(await list(bearer, `?limit=${limit}`), 400, 'invalid_request')
  }
})

test('a cursor only works with its own list, filters and order', async () => {
  const { bearer } = await openAccount(url)
  await createKeys(bearer, 3)
  const cursor = (await list(bearer, '?limit=1&status=active')).body['next_cursor']
  const next = await list(bearer, `?limit=2&status=active&cursor=${cursor}`)
  assert.equal(next.status, 200)
  for (const query of [`limit=1&cursor=${cursor}`, `status=active&order=asc&cursor=${cursor}`]) {
    assertRefused(await list(bearer, `?${query}`), 400, 'invalid_cursor')
  }
  for (const wrong of ['x', 'AAAA', '0', `${cursor}x`.repeat(2)]) {
    assertRefused(await list(bearer, `?status=active&cursor=${wrong}`), 400, 'invalid_cursor')
  }
  const audit = await send(url, 'GET', `/v1/audit_log?cursor=${cursor}`, { bearer })
  assertRefused(audit, 400, 'invalid_cursor')
})

test('created_* filters are exact to the millisecond', async () => {
  const { bearer } = await openAccount(url)
  const ids: string[] = []
  for (let at = 0; at < 3; at += 1) {
    ids.push(...(await createKeys(bearer, 1)))
    await advance(url, bearer, 60)
  }
  const [first = '', second = '', third = ''] = ids
  const timestamp = rowsOf(await list(bearer)).find(({ id }) => id === second)?.created_at ?? ''
  const found = async (query: string) => idsOf(await list(bearer, `?order=asc&${query}`))
  assert.deepEqual(await found(`created_gt=${timestamp}`), [third])
  assert.deepEqual(await found(`created_gte=${timestamp}`), [second, third])
  assert.deepEqual(await found(`created_lt=${timestamp}`), [first])
  assert.deepEqual(await found(`created_lte=${timestamp}`), [first, second])
  assert.deepEqual(await found(`created_gte=${timestamp}&created_lte=${timestamp}`), [second])
  assert.deepEqual(await found('created_lt=1990-01-01T00:00:00.000Z'), [])
  for (const wrong of ['yesterday', '2026-13-01T00:00:00Z', '2026-01-01', '1767225600']) {
    assertRefused(await list(bearer, `?created_gt=${wrong}`), 400, 'invalid_request')
  }
})

test('unknown and repeated parameters are refused', async () => {
  const { bearer } = await openAccount(url)
  assertRefused(await list(bearer, '?state=active'), 400, 'unknown_parameter')
  assertRefused(await list(bearer, '?limit=1&limit=2'), 400, 'invalid_request')
})

test('a key shows when and from which IP it was last used', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  const before = runtime.clock.now().getTime()
  const used = rowsOf(await list(key))
  assert.equal(used[0]?.last_used_ip, '127.0.0.1')
  const first_at = Date.parse(String(used[0]?.last_used_at))
  assert(first_at >= before - 1 && first_at <= runtime.clock.now().getTime())

  await advance(url, bearer, 5)
  await list(key)
  await tasks.runAll()
  const later = rowsOf(await list(bearer))
  assert(Date.parse(String(later[0]?.last_used_at)) >= first_at + 5_000)
})

test('an ascending walk skips nothing while six callers add keys concurrently', async () => {
  const { bearer } = await openAccount(url)
  const add = async () => {
    for (let at = 0; at < 8; at += 1) await createKey(url, bearer)
  }
  let isAdding = true
  const adding = Promise.all(Array.from({ length: 6 }, add)).finally(() => {
    isAdding = false
  })
  const page = async (query: string) =>
    (await send(url, 'GET', `/v1/api_keys?order=asc${query}`, { bearer })).body
  const walks: string[][] = []
  while (isAdding) {
    const seen: string[] = []
    let cursor = ''
    do {
      const { data, next_cursor, has_more } = await page(`&limit=3${cursor}`)
      seen.push(...data.map(({ id }: { id: string }) => id))
      cursor = has_more ? `&cursor=${next_cursor}` : ''
    } while (cursor !== '')
    walks.push(seen)
  }
  await adding
  const all: string[] = (await page('&limit=100')).data.map(({ id }: { id: string }) => id)
  assert.equal(all.length, 48)
  for (const seen of walks) assert.deepEqual(seen, all.slice(0, seen.length))
})
