import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originTurns } from './origin_turns.ts'

/** Names the requests of an origin in the order in which they may be sent. */
function sender(concurrent_max: number) {
  const turns = originTurns(concurrent_max)
  const sent: string[] = []
  const send = async (origin: string, name: string) => {
    await turns.take(origin)
    sent.push(name)
  }
  return { turns, sent, send }
}

test('beyond the limit, requests to an origin wait for others to end, in order', async () => {
  const { turns, sent, send } = sender(2)
  const all = ['a', 'b', 'c', 'd'].map((name) => send('x', name))
  await Promise.all(all.slice(0, 2))
  assert.deepEqual(sent, ['a', 'b'])
  turns.end('x')
  await all[2]
  assert.deepEqual(sent, ['a', 'b', 'c'])
  turns.end('x')
  await all[3]
  assert.deepEqual(sent, ['a', 'b', 'c', 'd'])
})

test('a busy origin delays no other origin', async () => {
  const { sent, send } = sender(1)
  await send('x', 'a')
  const waiting = send('x', 'b')
  await send('y', 'c')
  assert.deepEqual(sent, ['a', 'c'])
  await waiting
})

test('requests are sent although the ones before them never end, and turns stay counted', async () => {
  const { turns, sent, send } = sender(1)
  await Promise.all([send('x', 'a'), send('x', 'b'), send('x', 'c')])
  assert.deepEqual(sent, ['a', 'b', 'c'])
  for (const _ of sent) turns.end('x')
  await send('x', 'd')
  const waiting = send('x', 'e')
  assert.deepEqual(sent.slice(3), ['d'])
  turns.end('x')
  await waiting
})
