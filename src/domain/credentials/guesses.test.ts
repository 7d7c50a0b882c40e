import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from '#test/support/start.ts'
import { clearGuesses, requireGuessLeft, uncountGuess } from './guesses.ts'

const { runtime } = await startTestService()
const { db, keys } = runtime

const START = Date.parse('2031-05-06T07:00:00.000Z')
const MINUTE_MS = 60_000

const guess = (subject: string, at_ms = 0) => ({
  tx: db,
  keys,
  subject,
  now: new Date(START + at_ms),
})

test('the eleventh guess is refused until the first one leaves the window', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('a', at * MINUTE_MS))
  await assert.rejects(requireGuessLeft(guess('a', 10 * MINUTE_MS)), {
    code: 'too_many_attempts',
    status: 429,
    retry_after_s: 5 * 60,
  })
})

test('the window slides: each guess counts for 15 minutes', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('b', at * MINUTE_MS))
  await assert.rejects(requireGuessLeft(guess('b', 15 * MINUTE_MS - 1)))
  await requireGuessLeft(guess('b', 15 * MINUTE_MS))
  await assert.rejects(requireGuessLeft(guess('b', 15 * MINUTE_MS + 1)))
  await requireGuessLeft(guess('b', 16 * MINUTE_MS))
})

test('refused guesses do not extend the lock', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('c'))
  for (let at = 1; at < 15; at += 1) {
    await assert.rejects(requireGuessLeft(guess('c', at * MINUTE_MS)))
  }
  await requireGuessLeft(guess('c', 15 * MINUTE_MS))
})

test('ten of a hundred concurrent guesses are allowed', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, at) => requireGuessLeft(guess('d', at % 3))),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
})

test('subjects are counted separately and stored as hashes', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('sign_in|ada@example.com'))
  await requireGuessLeft(guess('sign_in|bob@example.com'))
  const rows = await db.rows('select * from guesses')
  assert(!JSON.stringify(rows).includes('example.com'))
})

test('clearGuesses clears them all', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('e'))
  await assert.rejects(requireGuessLeft(guess('e')))
  await clearGuesses(guess('e'))
  for (let at = 0; at < 10; at += 1) await assert.doesNotReject(requireGuessLeft(guess('e')))
})

test('uncountGuess removes one guess, once', async () => {
  for (let at = 0; at < 10; at += 1) await requireGuessLeft(guess('f', at))
  await uncountGuess(guess('f', 4))
  await uncountGuess(guess('f', 4))
  await uncountGuess(guess('f', 99))
  await requireGuessLeft(guess('f', 20))
  await assert.rejects(requireGuessLeft(guess('f', 21)))
})

test('of guesses with equal timestamps one is removed, at any position', async () => {
  for (const count of [1, 2, 5]) {
    const subject = `g${count}`
    for (let at = 0; at < count; at += 1) await requireGuessLeft(guess(subject))
    await uncountGuess(guess(subject))
    for (let at = count - 1; at < 10; at += 1) await requireGuessLeft(guess(subject, 1))
    await assert.rejects(requireGuessLeft(guess(subject, 1)))
  }
})
