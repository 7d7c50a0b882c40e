import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { startTestService } from '#test/support/start.ts'
import { makeHttpServer } from './http.ts'

const clock = systemClock()
let later_ms = 0
const monotonic = () => clock.monotonic() + later_ms
const { url, runtime } = await startTestService({
  dependencies: { clock: { ...clock, monotonic } },
})
const { port } = new URL(url)

test('a body that does not arrive within 30 seconds is refused with a sentence', async () => {
  const socket = connect(Number(port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const head = ['POST /v1/sessions HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json']
  socket.write(`${[...head, 'Content-Length: 100'].join('\r\n')}\r\n\r\n{"email`)
  const ended = once(socket, 'close')
  const early = await Promise.race([ended, clock.sleep(1_500).then(() => 'still open')])
  assert.equal(early, 'still open')
  later_ms = 31_000
  await ended
  assert.match(received, /^HTTP\/1\.1 408 /)
  assert.match(received, /The request timed out/)
})

test('connections above the limit of an address or node are closed, and closed ones free their place', async () => {
  for (const limits of [
    { total: 100, address: 5 },
    { total: 5, address: 100 },
  ]) {
    const app = makeHttpServer(runtime, limits)
    after(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port: here } = app.server.address() as AddressInfo
    const open = async () => {
      const socket = connect(here, '127.0.0.1')
      socket.on('error', () => undefined)
      const ended = once(socket, 'close').then(() => false)
      socket.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
      const isOpen = await Promise.race([ended, once(socket, 'data').then(() => true)])
      return { socket, isOpen }
    }
    const opened = []
    for (let at = 0; at < 7; at += 1) opened.push(await open())
    assert.deepEqual(
      opened.map(({ isOpen }) => isOpen),
      [true, true, true, true, true, false, false],
    )
    opened[0]?.socket.destroy()
    assert(await eventually(async () => (await open()).isOpen, { within_ms: 20_000 }))
    for (const { socket } of opened) socket.destroy()
  }
})
