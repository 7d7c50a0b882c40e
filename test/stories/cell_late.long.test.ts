import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { cellOfId } from '#kernel/id.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const LATE_MS_MAX = 20_000

const database = await cloneDatabase()
after(database.drop)
const port = await freePort()
const address = new URL(database.url)
const server_port = Number(address.port)
address.port = String(port)

/** Until this listens, connections to the cell's server are refused. */
const link = createServer((client) => {
  const server = connect(server_port, '127.0.0.1')
  client.pipe(server).pipe(client)
  client.on('error', () => server.destroy())
  server.on('error', () => client.destroy())
})
after(() => link.close())

const listed = JSON.stringify([{ number: 1, url: address.href }])
const service = await startTestService({ env: { FLORIN_CELLS: listed } })
const { url } = service

test('a node starts without the cell whose server is down, and serves the others', async () => {
  const holder = await openHolder(service, 100)
  assert.equal(cellOfId(holder.account_id), 0)
  const card = await issueCard(url, holder.key, { load_usd: 50 })
  const authorized = await authorize(url, { key: holder.key, card }, { amount: 5 })
  assert.equal(authorized.status, 'pending')
  const other = await openAccount(url)
  assert.equal(cellOfId(other.account_id), 0, 'new accounts go to a cell that is there')
  // A list without a cell would look complete.
  assertRefused(await operate(url, 'GET', '/accounts'), 503, 'service_unavailable')
})

test('a kill switch works in the cells that are there, and is refused until it does in all', async () => {
  const change = (on: boolean) =>
    operate(url, 'PUT', '/kill_switches/issuing', { body: { on, reason: 'a test' } })
  const { key } = await openHolder(service)
  const issue = () => send(url, 'POST', '/v1/cards', { bearer: key, body: { type: 'virtual' } })
  assertRefused(await change(true), 503, 'service_unavailable')
  assert.equal((await issue()).status, 503)
  assertRefused(await change(false), 503, 'service_unavailable')
  assert.equal((await issue()).status, 201)
})

test('it adds the cell when the server responds, with the kill switches set meanwhile', async () => {
  const change = (on: boolean) =>
    operate(url, 'PUT', '/kill_switches/issuing', { body: { on, reason: 'a test' } })
  assertRefused(await change(true), 503, 'service_unavailable')
  link.listen(port, '127.0.0.1')
  await once(link, 'listening')
  const isListed = async () => (await operate(url, 'GET', '/accounts')).status === 200
  assert.ok(await eventually(isListed, { within_ms: LATE_MS_MAX }))
  const holder = await openHolder(service, 100)
  assert.equal(cellOfId(holder.account_id), 1, 'the emptiest cell gets the next account')
  const body = { type: 'virtual' }
  const paused = await send(url, 'POST', '/v1/cards', { bearer: holder.key, body })
  assertRefused(paused, 503, 'kill_switch_active')
  assert.equal((await change(false)).status, 200)
  const card = await issueCard(url, holder.key, { load_usd: 50 })
  const authorized = await authorize(url, { key: holder.key, card }, { amount: 5 })
  assert.equal(cellOfId(authorized.id), 1)
  assert.equal(authorized.status, 'pending')
  const opened = await operate(url, 'GET', '/accounts')
  assert.equal((opened.body['data'] as object[]).length, 4)
})
