import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { makeCertificates } from '#test/support/certificates.ts'
import { startChildNode } from '#test/support/child_node.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { checkHaproxyConfiguration, startHaproxy } from '#test/support/haproxy.ts'
import { send } from '#test/support/http.ts'
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
  const startNode = ({ http_port, card_host_port }: (typeof places)[number]) =>
    startChildNode({
      database_url: database.url,
      data_dir: folder.path,
      env: { FLORIN_PORT: String(http_port), FLORIN_ISO_PORT: String(card_host_port) },
    })
  const nodes = await Promise.all(places.map(startNode))
  const [first, second] = places
  assert(first !== undefined && second !== undefined)
  const balancer = await startHaproxy(folder.path, [first, second])
  return { observer, nodes, places, startNode, balancer, folder: folder.path }
}

type BalancedNodes = Awaited<ReturnType<typeof startBehindHaproxy>>
const { observer, nodes, places, startNode, balancer, folder } =
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
