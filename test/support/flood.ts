import assert from 'node:assert/strict'
import { send } from './http.ts'
import type { TestService } from './start.ts'

/** Registers `count` clients from one address; asserts that at most `made_max` are stored. */
export async function floodRegistration(
  { url, home }: TestService,
  { count, made_max }: { count: number; made_max: number },
): Promise<void> {
  const body = { redirect_uris: ['https://app.example/callback'] }
  const statuses: number[] = []
  for (let sent = 0; sent < count; sent += 100) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => send(url, 'POST', '/oauth/register', { body })),
    )
    statuses.push(...replies.map(({ status }) => status))
    assert(replies.every(({ status, headers }) => status !== 429 || headers.has('retry-after')))
  }
  const made = statuses.filter((status) => status === 201).length
  assert.equal(statuses.filter((status) => status === 429).length, count - made)
  const [row] = await home.db.rows<{ clients: bigint }>(
    `select count(*) as clients from oauth_payloads where model = 'Client'`,
  )
  assert.equal(Number(row?.clients), made)
  assert(made >= 20 && made <= made_max, `${made} got through`)
}
