import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '#kernel/secret.ts'
import { bufferedSink, jsonLog, type Log } from './log.ts'

const now = new Date(Date.UTC(2026, 10, 15, 9, 30))

function recorded(use: (log: Log) => void): string[] {
  const lines: string[] = []
  use(jsonLog({ write: (line) => lines.push(line) }, () => now))
  return lines
}

const only = (lines: readonly string[]) => {
  assert.equal(lines.length, 1)
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>
}

test('a line is one JSON object with its time, level and fields', () => {
  const lines = recorded((log) =>
    log.info('call', { status: 200, ms: 1.5, ip: null, gone: undefined }),
  )
  assert.ok(lines[0]?.endsWith('\n'))
  assert.deepEqual(only(lines), {
    time: '2026-11-15T09:30:00.000Z',
    level: 'info',
    message: 'call',
    status: 200,
    ms: 1.5,
    ip: null,
  })
})

test('text from a caller cannot begin a new log line', () => {
  const forged = 'x\n{"level":"error","message":"forged"}\r\u2028'
  const lines = recorded((log) => log.info(forged, { user_agent: forged }))
  assert.equal(lines.join('').trimEnd().split('\n').length, 1)
  assert.equal(only(lines)['user_agent'], forged)
})

test('a field named time, level or message does not compile', () => {
  recorded((log) => {
    // @ts-expect-error: reserved
    log.info('call', { level: 'error' })
    // @ts-expect-error: reserved
    log.info('call', { message: 'another' })
    // @ts-expect-error: reserved
    log.info('call', { time: 'another' })
  })
})

test('a secret prints as dots', () => {
  const lines = recorded((log) => {
    log.info('signed in', { bearer: new Secret('fls_test_hidden') })
    log.error('failed', { bearer: new Secret('fls_test_hidden') }, new Error('x'))
    log.error('failed', {}, new Secret('fls_test_hidden'))
  })
  for (const line of lines) {
    assert.ok(!line.includes('hidden'), line)
    assert.ok(line.includes('••••'), line)
  }
})

test('a cause is logged with its chain, at most five deep, even if it is not an Error', () => {
  const root = new Error('the disk is full')
  const line = only(
    recorded((log) => log.error('failed', {}, new Error('no commit', { cause: root }))),
  )
  assert.match(String(line['cause']), /no commit[\s\S]*caused by: Error: the disk is full/)
  const circle = new Error('round')
  circle.cause = circle
  const circled = only(recorded((log) => log.error('failed', {}, circle)))
  assert.equal(String(circled['cause']).split('caused by:').length, 5)
  for (const cause of ['text', 5, null, undefined, { a: 1 }]) {
    assert.equal(only(recorded((log) => log.error('failed', {}, cause)))['level'], 'error')
  }
})

test('lines of one turn are written together, in order, and flush writes the rest', async () => {
  const writes: string[] = []
  const sink = bufferedSink({ write: (text) => writes.push(text) })
  sink.write('one\n')
  sink.write('two\n')
  assert.deepEqual(writes, [])
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(writes, ['one\ntwo\n'])
  sink.write('three\n')
  sink.flush()
  assert.deepEqual(writes, ['one\ntwo\n', 'three\n'])
})
