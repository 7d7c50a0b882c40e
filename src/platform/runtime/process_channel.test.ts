import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { ConfigError } from '#platform/settings/environment.ts'
import { ChannelClosed, openChannel, RemoteError } from './process_channel.ts'

/** Two ends of a pipe that delivers messages in the next turn of the event loop. */
function pipe() {
  const ends = [new EventEmitter(), new EventEmitter()].map((end) =>
    Object.assign(end, { connected: true, send: (_message: object): boolean => true }),
  )
  const [first, second] = ends as [(typeof ends)[number], (typeof ends)[number]]
  const connect = (from: typeof first, to: typeof first) => {
    from.send = (message) => setImmediate(() => to.emit('message', message)) !== undefined
  }
  connect(first, second)
  connect(second, first)
  const disconnect = () => {
    for (const end of ends) {
      end.connected = false
      end.emit('disconnect')
    }
  }
  return { first, second, disconnect }
}

type ServedRequests = {
  double: { body: number; reply: number }
  wait: { body: null; reply: null }
  fail: { body: Error; reply: null }
  note: { body: string; reply: undefined }
}

function channelTo(notes: string[] = []) {
  const { first, second, disconnect } = pipe()
  openChannel<Record<never, never>, ServedRequests>(second, {
    double: async (number) => number * 2,
    wait: () => new Promise(() => undefined),
    fail: (cause) => {
      throw cause
    },
    note: (text) => void notes.push(text),
  })
  return { channel: openChannel<ServedRequests, Record<never, never>>(first, {}), disconnect }
}

test('gives every request its own reply, whatever the order', async () => {
  const notes: string[] = []
  const { channel } = channelTo(notes)
  channel.notify('note', 'first')
  const replies = await Promise.all([1, 2, 3].map((number) => channel.request('double', number)))
  assert.deepEqual(replies, [2, 4, 6])
  assert.deepEqual(notes, ['first'])
})

test('an error keeps its kind, code and port, which decide what the user reads', async () => {
  const { channel } = channelTo()
  const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE', port: 8080 })
  await assert.rejects(channel.request('fail', inUse), (cause) => {
    assert.ok(cause instanceof RemoteError)
    assert.deepEqual([cause.code, cause.port], ['EADDRINUSE', 8080])
    return true
  })
  await assert.rejects(channel.request('fail', new ConfigError('Set it.')), {
    kind: 'ConfigError',
    message: 'Set it.',
  })
})

test('a request ends when the other process ends or does not reply in time', async () => {
  const { channel, disconnect } = channelTo()
  await assert.rejects(channel.request('wait', null, 20), ChannelClosed)
  const waiting = channel.request('wait', null)
  disconnect()
  await assert.rejects(waiting, ChannelClosed)
  await assert.rejects(channel.request('double', 1), ChannelClosed)
})
