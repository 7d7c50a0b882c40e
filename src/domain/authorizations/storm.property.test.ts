import { test } from 'node:test'
import { systemClock } from '#platform/clock.ts'
import { openIssuer } from '#test/support/issuer.ts'
import { assertBooksAreSound } from '#test/support/spending.ts'
import { assertCameTo, makeStorm, playStorm } from '#test/support/storm.ts'

const ROUNDS = Number(process.env['FLORIN_STORM_ROUNDS'] ?? 120)
const SIDE_BY_SIDE = 6
const LENGTH = 30
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000_000)

// Noon: a storm is one day's, and midnight has a test of its own.
const noon = new Date(`${new Date().toISOString().slice(0, 10)}T12:00:00.000Z`)
const issuer = await openIssuer({ clock: { ...systemClock(), now: () => noon } })

test(`random storms of messages come to what a simple model says, seed ${seed}`, async () => {
  for (let round = 0; round < ROUNDS; round += SIDE_BY_SIDE) {
    const storms = await Promise.all(
      Array.from({ length: SIDE_BY_SIDE }, (_, at) => makeStorm(issuer, seed + round + at, LENGTH)),
    )
    await Promise.all(storms.map((storm) => playStorm(issuer, storm)))
    for (const storm of storms) await assertCameTo(issuer, storm)
    if (round % (10 * SIDE_BY_SIDE) === 0) await assertBooksAreSound(issuer.db)
  }
  await assertBooksAreSound(issuer.db)
})
