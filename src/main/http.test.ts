import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '#platform/clock.ts'
import { startTestService } from '#test/support/start.ts'

const clock = systemClock()
let later_ms = 0
const monotonic = () => clock.monotonic() + later_ms
const { url } = await startTestService({ seams: { clock: { ...clock, monotonic } } })
const { port } = new URL(url)

test('a body that does not arrive within 30 seconds is refused with a sentence', async () => {
  const socket = connect(Number(port), '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk
  })
  const head = ['POST /v1/sessions HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json']
  socket.write(`${[...head, 'Content-Length: 100'].join('\r\n')}\r\n\r\n{"email`)
  const ended = once(socket, 'close')
  const early = await Promise.race([ended, clock.sleep(1_500).then(() => 'still open')])
  assert.equal(early, 'still open')
  later_ms = 31_000
  await ended
  assert.match(heard, /^HTTP\/1\.1 408 /)
  assert.match(heard, /did not arrive in time/)
})
