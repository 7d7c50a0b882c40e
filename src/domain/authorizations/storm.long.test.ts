// Runs alone, because a message that waits for a second is declined.

import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { openIssuer } from '#test/support/issuer.ts'
import { runStorms } from '#test/support/storm.ts'

const rounds = Number(process.env['FLORIN_STORM_ROUNDS'] ?? 1_000)
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000_000)

const noon = new Date(`${new Date().toISOString().slice(0, 10)}T12:00:00.000Z`)
const clock = { ...systemClock(), now: () => noon }
const issuer = await openIssuer({ clock })
const one_lane = await openIssuer({ clock, lane_count: 1 })

test(`thousands of storms over one card come to what a model says, seed ${seed}`, async () => {
  await runStorms(issuer, { seed, rounds, side_by_side: 40, card_count: 1 })
})

test(`thousands of storms over two cards come to what a model says, seed ${seed}`, async () => {
  await runStorms(one_lane, { seed, rounds, side_by_side: 40, card_count: 2 })
})
