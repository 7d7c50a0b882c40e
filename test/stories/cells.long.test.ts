import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '#contract/operation.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { listCells, setCellState } from '#domain/directory/cell_store.ts'
import { cellOfId } from '#kernel/id.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { assertRefused } from '#test/support/calls.ts'
import { getCard, issueCard } from '#test/support/cards.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { callTool } from '#test/support/mcp.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { authorize, follow, getTransaction } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'
import { fund } from '#test/support/topups.ts'
import { endOnChain, requested } from '#test/support/withdrawals.ts'

const service = await startTestCells([1, 7])
const { url, cells } = service
const NUMBERS = [0, 1, 7]

const first = await openHolderInCell(service, 500)
const second = await openHolderInCell(service, 500)
const third = await openHolderInCell(service, 500)
const holders = [first, second, third]

test('new accounts go to the cell with the fewest, and their ids and bearers name it', async () => {
  assert.deepEqual(holders.map(({ account_id }) => cellOfId(account_id)).sort(), NUMBERS)
  for (const { account_id, runtime, bearer, key } of holders) {
    const cell = cellOfId(account_id)
    assert.equal(bearer.length, cell === 0 ? 67 : 69)
    for (const each of cells.all) {
      const rows = await each.db.rows('select from accounts where id = $1', [account_id])
      assert.equal(rows.length, each === runtime ? 1 : 0)
    }
    const account = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
    assert.equal(account.body.id, account_id)
  }
  const counted = await listCells(cells.home.db)
  assert.deepEqual(
    counted.map(({ accounts }) => accounts),
    [1n, 1n, 1n],
  )
})

test('an email is taken in every cell, at sign-up and when an account changes its own', async () => {
  for (const { email } of holders) {
    const body = { email: email.toUpperCase(), password: PASSWORD }
    assertRefused(await send(url, 'POST', '/v1/accounts', { body }), 409, 'email_taken')
  }
  const change = { email: second.email, current_password: PASSWORD }
  for (const { bearer } of [first, third]) {
    const reply = await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: change })
    assertRefused(reply, 409, 'email_taken')
  }
})

test('an Idempotency-Key of a sign-up belongs to its email, in whichever cell that is', async () => {
  const signUp = (email: string) =>
    send(url, 'POST', '/v1/accounts', { body: { email, password: PASSWORD }, key: 'same-key' })
  const created = [await signUp('ada@example.com'), await signUp('bob@example.com')]
  const ids = created.map(({ status, body }) => [status, body.id])
  assert.equal(new Set(ids.map(([, id]) => cellOfId(String(id)))).size, 2)
  const repeated = [await signUp('ada@example.com'), await signUp('bob@example.com')]
  assert.deepEqual(
    repeated.map(({ status, body }) => [status, body.id]),
    ids,
  )
  assert.equal(repeated[0]?.headers.get('idempotent-replayed'), 'true')
})

test('sign-in finds the cell by email, also after a change of it', async () => {
  const person = await openAccount(url)
  const email = `moved_${person.email}`
  const body = { email, current_password: PASSWORD }
  const changed = await send(url, 'PATCH', '/v1/accounts/me', { bearer: person.bearer, body })
  assert.equal(changed.status, 200, changed.text)
  const again = await send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })
  assert.equal(again.body.account_id, person.account_id, again.text)
  const old = { email: person.email, password: PASSWORD }
  assertRefused(await send(url, 'POST', '/v1/sessions', { body: old }), 401, 'invalid_credentials')
  const unknown = { email: 'nobody@example.com', password: PASSWORD }
  const refused = await send(url, 'POST', '/v1/sessions', { body: unknown })
  assertRefused(refused, 401, 'invalid_credentials')
})

test('a reset of the password works in every cell', async () => {
  for (const { account_id, email, bearer } of holders) {
    await send(url, 'POST', '/v1/password_resets', { body: { email } })
    await service.tasks.run(['email_password_resets'])
    const mails = await service.sandbox_host.inboxOf(account_id)
    const token = /token=([\w-]+)/.exec(mails.map(({ text }) => text).join())?.[1]
    const body = { token, password: `${PASSWORD} 2` }
    const reset = await send(url, 'POST', '/v1/password_resets/confirm', { body })
    assert.equal(reset.status, 204, reset.text)
    assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).status, 401)
  }
})

test('a card message finds its cell by the card number', async () => {
  for (const { key: bearer, runtime } of holders) {
    const card = await issueCard(url, bearer, { load_usd: 50 })
    assert.equal(cellOfId(card.id), runtime.settings.cell)
    const authorized = await authorize(url, { key: bearer, card }, { amount: 12 })
    assert.equal(cellOfId(authorized.id), runtime.settings.cell)
    await follow(url, { key: bearer }, { id: authorized.id, verb: 'capture' })
    const { status } = await getTransaction(url, bearer, authorized.id)
    assert.equal(status, 'captured')
    assert.equal((await getCard(url, bearer, card.id)).balance_usd, 38)
  }
})

test('an object of another cell does not exist', async () => {
  const card = await issueCard(url, second.key)
  for (const { key: bearer } of [first, third]) {
    assertRefused(await send(url, 'GET', `/v1/cards/${card.id}`, { bearer }), 404, 'not_found')
  }
})

test('deposits are credited in every cell, at addresses of their own', async () => {
  const addresses = new Set<string>()
  for (const { key: bearer, runtime } of holders) {
    await fund(url, bearer, 30)
    const [row] = await runtime.db.rows<{ address_index: bigint; deposit_address: string }>(
      'select address_index, deposit_address from topups order by id desc limit 1',
    )
    assert.equal(Number(row?.address_index) >> 24, runtime.settings.cell)
    addresses.add(row?.deposit_address ?? '')
  }
  assert.equal(addresses.size, holders.length)
})

test('agents call tools and people follow their activity in every cell', async () => {
  for (const { key, account_id } of holders) {
    const account = await callTool(url, 'get_account', {}, key)
    assert.equal(account.structuredContent['id'], account_id)
    const stream = await followActivity(url, key)
    const card = await issueCard(url, key)
    const [event] = await stream.waitForEvents(1, 10_000)
    assert.equal(event?.card_id, card.id)
    stream.close()
  }
})

test('a bearer of a cell that does not exist is refused like an unknown one', async () => {
  const bearer = `${'x'.repeat(43)}2a`
  assertRefused(await send(url, 'GET', '/v1/accounts/me', { bearer }), 401, 'invalid_token')
})

test('an operator acts on an account of any cell with the same token', async () => {
  for (const { account_id, runtime } of holders) {
    const found = await operate(url, 'GET', `/accounts/${account_id}`)
    assert.equal(found.body.id, account_id, found.text)
    const suspended = await operate(url, 'POST', `/accounts/${account_id}/suspend`, { body: {} })
    assert.equal(suspended.status, 200, suspended.text)
    const [row] = await runtime.db.rows<{ status: string }>(
      'select status from accounts where id = $1',
      [account_id],
    )
    assert.equal(row?.status, 'suspended')
    await operate(url, 'POST', `/accounts/${account_id}/reinstate`, { body: {} })
  }
})

test('every cell pays withdrawals from a hot wallet of its own', async () => {
  const paid_by = new Set<string>()
  for (const { key: bearer, runtime } of holders) {
    const account = { url, bearer }
    const { id } = await requested(account, 20)
    const done = await endOnChain(account, id, 'confirm')
    assert.equal(done.status, 'completed')
    const [chain] = chainsOf(runtime.settings.chains).values()
    paid_by.add(chain?.hot_wallet ?? '')
    assert.ok(service.sandbox.node.balanceOf(runtime.settings.chains[0]?.hot_wallet ?? '') > 0n)
  }
  assert.equal(paid_by.size, holders.length)
})

/** All rows of an operator list, page by page. */
async function readAll(path: string): Promise<{ id: string }[]> {
  const rows: { id: string }[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `?limit=2&order=asc${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page = await operate(url, 'GET', `${path}${query}`)
    assert.equal(page.status, 200, page.text)
    rows.push(...page.body.data)
    cursor = page.body.next_cursor
  }
  return rows
}

test('operator lists show the rows of all cells in the order of time, page by page', async () => {
  for (const { key: bearer } of holders) {
    const body = { subject: 'Hello', message: 'Is anybody there?', category: 'other' }
    assert.equal((await send(url, 'POST', '/v1/tickets', { bearer, body })).status, 201)
  }
  const tables = { accounts: 'accounts', cards: 'cards', tickets: 'tickets' }
  for (const [list, table] of Object.entries(tables)) {
    const stored: string[] = []
    for (const { db } of cells.all) {
      const rows = await db.rows<{ id: string }>(`select id from ${table}`)
      stored.push(...rows.map(({ id }) => id))
    }
    assert.ok(new Set(stored.map(cellOfId)).size === NUMBERS.length, list)
    const listed = (await readAll(`/${list}`)).map(({ id }) => id)
    assert.deepEqual(listed, stored.sort(), list)
  }
})

test('every paged operator list takes its own cursor', async () => {
  for (const { name, path, input } of Object.values<Operation>(operator_operations)) {
    if (!('cursor' in input.properties)) continue
    const isOfAccount = input.required?.includes('account_id') ?? false
    const filter = isOfAccount ? `&account_id=${second.account_id}` : ''
    const list = `${path.replace('{id}', second.account_id)}?limit=1${filter}`
    const page = await operate(url, 'GET', list)
    assert.equal(page.status, 200, `${name}: ${page.text}`)
    if (page.body.next_cursor === null) continue
    const next = await operate(url, 'GET', `${list}&cursor=${page.body.next_cursor}`)
    assert.equal(next.status, 200, `${name}: ${next.text}`)
  }
})

test('the list of operator actions shows those of all cells, newest first, each once', async () => {
  const done: string[] = []
  for (const { account_id } of holders) {
    const reply = await operate(url, 'GET', `/accounts/${account_id}`)
    done.unshift(reply.headers.get('request-id') ?? '')
  }
  const list = await operate(url, 'GET', '/accounts')
  done.unshift(list.headers.get('request-id') ?? '')
  const seen: string[] = []
  let before = ''
  while (seen.length <= done.length) {
    const page = await operate(url, 'GET', `/actions?limit=2${before}`)
    assert.equal(page.status, 200, page.text)
    const rows = page.body.data as { id: string; request_id: string; action: string }[]
    before = `&before=${rows.at(-1)?.id}`
    const others = rows.filter(({ action }) => action !== 'operator_list_actions')
    seen.push(...others.map(({ request_id }) => request_id))
  }
  assert.deepEqual(seen.slice(0, done.length), done)
})

test('figures, health and reconciliation add up all cells', async () => {
  const stored = { accounts: 0, micros: 0 }
  for (const { db } of cells.all) {
    const [row] = await db.rows<{ accounts: bigint; micros: string }>(
      `select (select count(*) from accounts) as accounts,
              (select sum(balance_micros) from purses where kind = 'treasury')::text as micros`,
    )
    stored.accounts += Number(row?.accounts)
    stored.micros += Number(row?.micros)
  }
  const figures = await operate(url, 'GET', '/figures')
  assert.equal(figures.body.totals.accounts, stored.accounts, figures.text)
  assert.equal(figures.body.totals.treasuries_usd, stored.micros / 1e6)
  const today = figures.body.days.at(-1)
  assert.equal(today.accounts_opened, stored.accounts)
  assert.equal(today.approved, holders.length)
  assert.equal(today.approval_rate, 1)
  // On a busy machine, a part may respond slowly, or have a chain's last blocks unaudited.
  const isOperational = async () =>
    (await operate(url, 'GET', '/health')).body.status === 'operational'
  assert(await eventually(isOperational, { within_ms: 20_000 }))

  const compared = await operate(url, 'GET', '/reconciliation')
  assert.deepEqual(compared.body.violations, [], compared.text)
  const [deposits] = compared.body.chains
  // Each holder deposited 30 USDT and withdrew 20 of them, with a fee of 1 that stays.
  assert.equal(deposits.ledger_usd, (30 - 19) * holders.length, compared.text)
  assert.equal(deposits.difference_usd, 0)
  for (const { difference_usd, ledger_usd } of compared.body.network) {
    assert.equal(difference_usd, 0)
    assert.equal(ledger_usd, 12 * holders.length)
  }
})

test('a kill switch stops its rail in every cell', async () => {
  await setKillSwitch(url, 'issuing', true)
  for (const { key: bearer } of holders) {
    const body = { type: 'virtual' }
    const refused = await send(url, 'POST', '/v1/cards', { bearer, body })
    assert.equal(refused.status, 503, refused.text)
  }
  await setKillSwitch(url, 'issuing', false)
  for (const { key } of holders) await issueCard(url, key)
  const { body } = await operate(url, 'GET', '/actions?limit=4')
  const recorded = body.data.map(({ action }: { action: string }) => action)
  assert.deepEqual(
    recorded.filter((action: string) => action === 'operator_set_kill_switch').length,
    2,
    'each change is recorded once',
  )
})

test('a rail that is paused in one cell only is shown as paused', async () => {
  const switchOf = async () => {
    const { body } = await operate(url, 'GET', '/kill_switches')
    return body.data.find(({ rail }: { rail: string }) => rail === 'withdrawals')
  }
  assert.equal((await switchOf()).on, false)
  await cells.at(7)?.db.run(`update kill_switches set is_on = true where rail = 'withdrawals'`)
  assert.equal((await switchOf()).on, true)
  await setKillSwitch(url, 'withdrawals', false)
  assert.equal((await switchOf()).on, false)
})

test('a closed cell gets no new account', async () => {
  await setCellState(cells.home.db, 1, 'closed')
  const opened = [await openAccount(url), await openAccount(url), await openAccount(url)]
  assert.equal(
    opened.some(({ account_id }) => cellOfId(account_id) === 1),
    false,
  )
  await setCellState(cells.home.db, 1, 'open')
})

test('the books of every cell are sound', async () => {
  for (const { db, clock } of cells.all) await assertBooksSound(db, clock.now())
})

test('a database of another cell is refused at the start', async () => {
  const [, one = ''] = [...service.urls.values()]
  const swapped = JSON.stringify([{ number: 7, url: one }])
  await assert.rejects(
    startTestService({ env: { FLORIN_CELLS: swapped } }),
    /configured for cell 7 belongs to cell 1/,
  )
})
