import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { openIssuer } from '#test/support/issuer.ts'
import { runStorms } from '#test/support/storm.ts'

const rounds = Number(process.env['FLORIN_STORM_ROUNDS'] ?? 30)
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000_000)

// Noon, so that a storm stays within one day. Midnight has its own test.
const noon = new Date(`${new Date().toISOString().slice(0, 10)}T12:00:00.000Z`)
const clock = { ...systemClock(), now: () => noon }
const issuer = await openIssuer({ clock })
const one_lane = await openIssuer({ clock, lane_count: 1 })

test(`random storms over one card come to what a simple model says, seed ${seed}`, async () => {
  await runStorms(issuer, { seed, rounds, side_by_side: 6, card_count: 1 })
})

test(`random storms over two cards come to what a simple model says, seed ${seed}`, async () => {
  await runStorms(one_lane, { seed, rounds, side_by_side: 6, card_count: 2 })
})
