import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLinkToken } from '#domain/credentials/link_token.ts'
import { findLastRun } from '#domain/system/proof_store.ts'
import { root } from '#platform/runtime/root.ts'
import { openConnection } from '#sandbox/card_network.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { rpc } from '#test/support/mcp.ts'
import { printedCard } from '#test/support/mixed_storm_calls.ts'
import { operate } from '#test/support/operator.ts'
import { PASSWORD } from '#test/support/people.ts'
import { startTestService, type TestService } from '#test/support/start.ts'
import { fund } from '#test/support/topups.ts'

const whole = await startTestCells([1])
const opened = [await openHolderInCell(whole, 100), await openHolderInCell(whole, 100)]
const [first, second] = opened.toSorted((a, b) => a.runtime.settings.cell - b.runtime.settings.cell)
assert(first !== undefined && second !== undefined)
const cards = [
  await issueCard(whole.url, first.key, { load_usd: 50 }),
  await issueCard(whole.url, second.key, { load_usd: 50 }),
] as const

const nodeFor = (cell: string): Promise<TestService> =>
  startTestService({
    database_url: whole.database_url,
    data_dir: whole.data_dir,
    env: {
      FLORIN_CELLS: JSON.stringify([{ number: 1, url: whole.urls.get(1) }]),
      FLORIN_SERVE_CELLS: cell,
    },
  })
const [of_first, of_second] = [await nodeFor('0'), await nodeFor('1')]

const account = (url: string, bearer: string) => send(url, 'GET', '/v1/accounts/me', { bearer })

test('a node serves the calls of its cells and names the setting to those of others', async () => {
  const { key } = first
  assert.equal((await account(of_first.url, first.key)).body.id, first.account_id)
  assert.equal((await account(of_second.url, second.key)).body.id, second.account_id)
  const elsewhere = await account(of_second.url, key)
  assertRefused(elsewhere, 503, 'service_unavailable')
  assert.match(elsewhere.body['message'], /does not serve cell 0 \(FLORIN_SERVE_CELLS\)/)
  assert.equal(elsewhere.headers.get('retry-after'), '1')
  assertRefused(await account(of_first.url, second.key), 503, 'service_unavailable')
  const tool = { name: 'get_account', arguments: {} }
  assert.equal((await rpc(of_second.url, 'tools/call', tool, { bearer: key })).status, 503)
  assertRefused(await account(of_second.url, 'nonsense'), 401, 'invalid_token')
  assert.equal((await send(of_second.url, 'GET', '/v1/accounts/me')).status, 401)
  assert.equal((await send(of_second.url, 'GET', '/healthz')).status, 200)
})

test('the pattern for the load balancer in docs/scaling.md finds the bearers of cell 1', () => {
  const page = readFileSync(join(root, 'docs/scaling.md'), 'utf8')
  const pattern = /-m reg (\^Bearer.*)\n/.exec(page)?.[1]?.replace('\\ ', ' ')
  assert(pattern !== undefined)
  const isOfCell1 = (bearer: string) => new RegExp(pattern).test(`Bearer ${bearer}`)
  const token = newLinkToken(second.runtime)
  for (const bearer of [second.key, second.bearer, token]) assert(isOfCell1(bearer), bearer)
  for (const bearer of [first.key, first.bearer, newLinkToken(first.runtime), `${token}x`]) {
    assert(!isOfCell1(bearer), bearer)
  }
})

test('it refuses every email alike, so no response shows which ones have an account', async () => {
  for (const { url } of [of_first, of_second]) {
    const messages = new Set<string>()
    for (const email of [first.email, second.email, 'nobody@example.com']) {
      const body = { email, password: PASSWORD }
      for (const path of ['/v1/sessions', '/v1/accounts']) {
        const reply = await send(url, 'POST', path, { body })
        assertRefused(reply, 503, 'service_unavailable')
        messages.add(reply.body['message'])
      }
      const reset = await send(url, 'POST', '/v1/password_resets', { body: { email } })
      messages.add(reset.body['message'])
    }
    assert.equal(messages.size, 1)
    assert.match([...messages].join(), /FLORIN_SERVE_CELLS.*node that serves all cells/)
    const invalid = await send(url, 'POST', '/v1/sessions', { body: {} })
    assertRefused(invalid, 400, 'invalid_request')
  }
})

test('a card message of another cell is refused with 91, and its network may repeat it', async () => {
  const codes: string[][] = []
  for (const { sandbox_host } of [whole, of_first, of_second]) {
    const line = await openConnection(sandbox_host.card_host_port)
    const seen: string[] = []
    for (const [at, holder] of [first, second].entries()) {
      const printed = await printedCard(whole, holder, cards[at]?.id ?? '')
      seen.push((await line.send(purchaseMessage(printed, 100))).fields[39] ?? '')
    }
    line.end()
    codes.push(seen)
  }
  assert.deepEqual(codes, [
    ['00', '00'],
    ['00', '91'],
    ['91', '00'],
  ])
})

test('lists of operators, and objects of other cells, need a node that has them', async () => {
  for (const { url } of [of_first, of_second]) {
    assertRefused(await operate(url, 'GET', '/accounts'), 503, 'service_unavailable')
  }
  const found = await operate(of_second.url, 'GET', `/accounts/${second.account_id}`)
  assert.equal(found.status, 200, found.text)
  const missing = await operate(of_second.url, 'GET', `/accounts/${first.account_id}`)
  assertRefused(missing, 503, 'service_unavailable')
})

test('a node runs the tasks of its cells only, and those over all cells on none of them', async () => {
  await whole.stop()
  const home_db = of_first.home.db
  const second_db = of_second.home.cells?.at(1)?.db
  assert(second_db !== undefined)
  for (const db of [home_db, second_db]) {
    await db.run(`insert into velocities (subject, operation, day, count)
                  values ('ip|192.0.2.1', 'withdraw', '2020-01-01', 1)`)
  }
  const rest = async () =>
    Promise.all(
      [home_db, second_db].map(async (db) => (await db.rows('select from velocities')).length),
    )
  await of_second.tasks.run(['sweep_velocities', 'prove_books'])
  assert.deepEqual(await rest(), [1, 0])
  await of_first.tasks.run(['sweep_velocities', 'prove_books', 'sweep_oauth'])
  assert.deepEqual(await rest(), [0, 0])
  assert.notEqual(await findLastRun(second_db), null)
  assert.equal(await findLastRun(home_db), null)
  await fund(of_second.url, second.key, 20)
  await fund(of_first.url, first.key, 20)
})
