import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '#test/support/eventually.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)
const { key } = await createKey(url, bearer)
const { port } = new URL(url)

const head = (...lines: readonly string[]) =>
  [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...lines,
    '\r\n',
  ].join('\r\n')

const ping = (id: number, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params })

const whole = (body: string) => head(`Content-Length: ${body.length}`) + body

const chunked = (body: string) =>
  `${head('Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** One connection for all of it, and what came back on it so far. */
function openSocket() {
  const socket = connect(Number(port), '127.0.0.1')
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  const answers = async (count: number) => {
    const ids = () => [...text.matchAll(/"id":(\d+|null)/g)].map(([, id]) => id)
    assert(await eventually(async () => ids().length >= count, { within_ms: 5_000 }), text)
    return ids().join(' ')
  }
  return { socket, statuses, answers, text: () => text }
}

test('however the bytes of a message come, on one connection each is answered in its turn', async () => {
  const { socket, statuses, answers } = openSocket()
  socket.write(whole(ping(1)))
  await answers(1)
  socket.write(whole(ping(2)) + whole(ping(3)) + chunked(ping(4)) + whole(ping(5)))
  await answers(5)
  const { length } = ping(6)
  socket.write(head(`Content-Length: ${length}`))
  await wait(20)
  for (const byte of ping(6)) {
    socket.write(byte)
    await wait(1)
  }
  await answers(6)
  socket.write(whole(ping(7, { filler: 'a'.repeat(1_000_000) })))
  await answers(7)
  socket.write(whole('') + whole('{') + chunked('[') + whole(ping(8)))
  assert.equal(await answers(11), '1 2 3 4 5 6 7 null null null 8')
  assert.deepEqual(statuses(), [200, 200, 200, 200, 200, 200, 200, 400, 400, 400, 200])
  socket.destroy()
})

test('a message of more than 25 MB is a 413, by its word or by its bytes', async () => {
  const megabyte = 'a'.repeat(1024 * 1024)
  const chunk = `${megabyte.length.toString(16)}\r\n${megabyte}\r\n`
  for (const bytes of [
    head(`Content-Length: ${26 * 1024 * 1024}`),
    `${head('Transfer-Encoding: chunked')}${chunk.repeat(26)}0\r\n\r\n`,
  ]) {
    const { socket, text } = openSocket()
    socket.write(bytes)
    assert(await eventually(async () => text().includes('"error"'), { within_ms: 5_000 }), text())
    assert.match(text(), /^HTTP\/1\.1 413 /)
    assert.match(text(), /"error":"payload_too_large"/)
    socket.destroy()
  }
})

test('whoever is still sending when a message is refused hears why', async () => {
  const body = Buffer.alloc(60 * 1024 * 1024, ' ')
  for (let at = 0; at < 4; at += 1) {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
    assert.equal(reply.status, 413)
    assert.match(await reply.text(), /"error":"payload_too_large"/)
  }
})
