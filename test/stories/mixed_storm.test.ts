// Runs alone, because it needs response codes of a machine that is not overloaded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#platform/runtime/log.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { runMixedStorm, stormNode } from '#test/support/mixed_storm.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startTwoNodes } from '#test/support/nodes.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const STEPS = Number(process.env['FLORIN_STORM_STEPS'] ?? 350)

/** Logged errors and how often each came: they say why a message failed. */
const logged = new Map<string, number>()
const log = {
  ...silentLog,
  error: (message: string, _: object, cause: unknown) => {
    const line = `${message}: ${String(cause)} ${String((cause as Error | undefined)?.cause ?? '')}`
    logged.set(line, (logged.get(line) ?? 0) + 1)
  },
}
const { first, second } = await startTwoNodes({}, { log })

for (const [name, nodes] of [
  ['one node', [stormNode(first)]],
  ['two nodes', [stormNode(first), stormNode(second)]],
] as const) {
  test(`card messages beside all of an owner's writes never fail on ${name}, seed ${seed}`, async (t) => {
    t.after(() => t.diagnostic(JSON.stringify(Object.fromEntries(logged))))
    const result = await runMixedStorm({
      host: first,
      nodes,
      seed,
      clients: 12,
      message_percent: 60,
      isOver: ({ card_messages, owner_calls }) => card_messages + owner_calls >= STEPS,
    })
    assert(result.card_messages > STEPS / 3, `${result.card_messages} card messages were sent`)
    assert((result.response_codes.get('00') ?? 0) > STEPS / 6, 'many messages were approved')
    const { db } = first.runtime
    await assertBooksSound(db)
    await assertEventsAreWhole(db)
  })
}
