import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '#platform/postgres/db.ts'
import { NetworkError, openConnection } from '#sandbox/card_network.ts'
import { cellEnv } from '#test/support/account_cell.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { makeCertificates } from '#test/support/certificates.ts'
import { startChildNode } from '#test/support/child_node.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { databaseProxy } from '#test/support/database_proxy.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { checkHaproxyConfiguration, startHaproxy } from '#test/support/haproxy.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import type { StormOwner } from '#test/support/mixed_storm_actors.ts'
import { assertDecided } from '#test/support/on_time.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'
import { skipWithout } from '#test/support/tools.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const skip = skipWithout('haproxy')

async function startBehindHaproxy() {
  const database = await cloneDatabase()
  const folder = await temporaryFolder()
  // Opens the account and reads the books; the traffic goes through HAProxy.
  const observer = await startTestService({ database_url: database.url, data_dir: folder.path })
  await observer.tasks.stop()
  after(async () => {
    await database.drop()
    await folder.remove()
  })
  const places = await Promise.all(
    [0, 1].map(async () => ({ http_port: await freePort(), card_host_port: await freePort() })),
  )
  // The second node's own way to the database, which a test cuts.
  const { FLORIN_DATABASE_URL: home_url = '' } = await cellEnv(database.url)
  const link = await databaseProxy(home_url)
  after(link.close)
  const startNode = (place: (typeof places)[number]) =>
    startChildNode({
      database_url: database.url,
      data_dir: folder.path,
      env: {
        FLORIN_PORT: String(place.http_port),
        FLORIN_ISO_PORT: String(place.card_host_port),
        FLORIN_DATABASE_URL: place === places[0] ? home_url : link.url,
      },
    })
  const nodes = await Promise.all(places.map(startNode))
  const [first, second] = places
  assert(first !== undefined && second !== undefined)
  const balancer = await startHaproxy(folder.path, [first, second])
  const database_url = database.url
  return { observer, nodes, places, startNode, balancer, link, folder: folder.path, database_url }
}

type BalancedNodes = Awaited<ReturnType<typeof startBehindHaproxy>>
const { observer, nodes, places, startNode, balancer, link, folder, database_url } =
  skip === false ? await startBehindHaproxy() : ({} as BalancedNodes)

test('HAProxy accepts packaging/ha/haproxy.cfg with a certificate', { skip }, async () => {
  const certificates = await makeCertificates()
  const file = certificates('florin.pem')
  const parts = ['localhost.crt', 'localhost.key'].map((name) => readFileSync(certificates(name)))
  writeFileSync(file, Buffer.concat(parts))
  checkHaproxyConfiguration(folder, file)
})

test('metrics and the operator API are not reachable through the load balancer', {
  skip,
}, async () => {
  for (const path of ['/metrics', '/operator/v1/health', '/operator']) {
    assert.equal((await send(balancer.url, 'GET', path)).status, 404, path)
  }
  assert.equal((await send(balancer.url, 'GET', '/healthz')).status, 200)
})

test('operators reach the console and its API on a port of their own, without metrics', {
  skip,
}, async () => {
  const statusOf = async (path: string) => (await send(balancer.operator_url, 'GET', path)).status
  assert.equal(await statusOf('/operator'), 200)
  assert.equal(await statusOf('/operator/v1/health'), 401)
  assert.equal(await statusOf('/metrics'), 404)
})

/** The response code of a purchase on a new connection, or a later one if HAProxy closes it. */
async function codeOf({ cards }: StormOwner): Promise<string | undefined> {
  const message = purchaseMessage(cards[0] as StormOwner['cards'][number], 1)
  for (let attempt = 0; ; attempt += 1) {
    try {
      const line = await openConnection(balancer.card_host_port)
      const { fields } = await line.send(message).finally(() => line.end())
      return fields[39]
    } catch (cause) {
      if (!(cause instanceof NetworkError) || attempt === 20) throw cause
      await delay(100)
    }
  }
}

test('a node that has lost its database gets no card messages, and its connections are closed', {
  skip,
}, async () => {
  const owner = await openOwner(observer, 1)
  // Each node has one of them, because the balancer chooses the node with fewer connections.
  const lines = [
    await openConnection(balancer.card_host_port),
    await openConnection(balancer.card_host_port),
  ]
  await link.cut()
  const isLeft = async () => lines.some((line) => line.isDown())
  assert(await eventually(isLeft, { within_ms: 20_000 }))
  assert.equal(lines.filter((line) => line.isDown()).length, 1)
  for (let connection = 0; connection < 10; connection += 1) {
    assertDecided(await codeOf(owner), 'a purchase')
  }
  await link.heal()
  for (const line of lines) line.end()
  const [, second] = places
  const isBack = async () =>
    (await send(`http://127.0.0.1:${second?.http_port}`, 'GET', '/healthz')).status === 200
  assert(await eventually(isBack, { within_ms: 20_000 }))
  await delay(3_000)
})

test('while the database refuses connections, calls get 503 with Retry-After and card messages 91', {
  skip,
}, async () => {
  const owner = await openOwner(observer, 1)
  const { bearer } = await openAccount(balancer.url)
  const readAccount = () => send(balancer.url, 'GET', '/v1/accounts/me', { bearer })
  const server = new URL(database_url)
  const name = server.pathname.slice(1)
  server.pathname = '/postgres'
  const admin = openDatabase(server.href, { pool_size: 1 })
  after(() => admin.close())
  await admin.run(`alter database ${name} with allow_connections false`)
  try {
    await admin.rows('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ])
    // HAProxy has left both nodes by the end of these seconds.
    for (let second = 0; second < 8; second += 1) {
      const { status, body, headers } = await readAccount()
      assert.deepEqual([status, body.error], [503, 'service_unavailable'])
      assert(Number(headers.get('retry-after')) >= 1)
      assert.equal(await codeOf(owner), '91')
      await delay(1_000)
    }
  } finally {
    await admin.run(`alter database ${name} with allow_connections true`)
  }
  const works = async () => (await readAccount()).status === 200 && (await codeOf(owner)) === '00'
  assert(await eventually(works, { within_ms: 20_000 }))
})

test('a stream through the load balancer continues on the other node after kill -9 of its own', {
  skip,
}, async () => {
  const { bearer, account_id } = await openAccount(balancer.url)
  const emit = () => recordTestEvents(observer.runtime, account_id, [plainEvent('card.loaded')])
  const open = (last?: string) => followActivity(balancer.url, bearer, last ? { last } : {})
  // Each node has one of them, because the balancer chooses the node with fewer connections.
  const streams = [await open(), await open()]
  after(() => {
    for (const stream of streams) stream.close()
  })
  await emit()
  for (const stream of streams) assert.equal((await stream.waitForEvents(1, 10_000)).length, 1)
  const lost = Promise.race(streams.map((stream, at) => stream.ended.then(() => at)))
  await nodes[0]?.kill()
  const at = await Promise.race([lost, delay(20_000, -1)])
  assert.notEqual(at, -1, 'no stream ended')
  await emit()
  const again = await open(streams[at]?.events().at(-1)?.id)
  after(again.close)
  assert.equal((await again.waitForEvents(1, 10_000)).length, 1, 'nothing was missed')
  const [place] = places
  if (place !== undefined) nodes[0] = await startNode(place)
})

test(`kill -9 and a restart of each node behind the load balancer lose nothing, seed ${seed}`, {
  skip,
}, async (t) => {
  const load = await startAcknowledgedLoad(observer, seed, {
    targets: () => [balancer],
    failing: 'nodes_without_notice',
  })
  for (const [at, place] of places.entries()) {
    await load.nextSuccess()
    await delay(500)
    await nodes[at]?.kill()
    const gap_ms = await load.nextSuccess()
    t.diagnostic(`first success ${gap_ms} ms after kill -9 of node ${at + 1}`)
    nodes[at] = await startNode(place)
    const url = `http://127.0.0.1:${place.http_port}`
    assert(
      await eventually(async () => (await send(url, 'GET', '/healthz')).status === 200, {
        within_ms: 20_000,
      }),
    )
    // HAProxy uses the node again after two good checks.
    await delay(3_000)
  }
  await load.stop()
  t.diagnostic(await load.assertKept(observer.owner_db))
})
