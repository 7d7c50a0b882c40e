// Runs alone, because it needs response codes of a machine that is not overloaded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConnection } from '#sandbox/card_network.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import { pick, runTogether } from '#test/support/mixed_storm_actors.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startNodeProcesses } from '#test/support/nodes.ts'
import { seeded } from '#test/support/storm.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const MESSAGES = 1_500
const IN_FLIGHT = 48

const { host, nodes } = await startNodeProcesses(3)

test(`one busy account gets no wrong response on three nodes, seed ${seed}`, async (t) => {
  const owner = await openOwner(host, 6)
  const codes = new Map<string, number>()
  let sent = 0
  const shop = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 100 + at)
    const port = nodes[at % nodes.length]?.card_host_port ?? 0
    const line = await openConnection(port)
    try {
      while (!isStopped() && sent < MESSAGES) {
        sent += 1
        const { fields } = await line.send(purchaseMessage(pick(owner.cards, random), 1))
        const code = fields[39] ?? 'none'
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    } finally {
      line.end()
    }
  }
  const began = performance.now()
  await runTogether(Array.from({ length: IN_FLIGHT }, (_, at) => shop(at)))
  const per_second = Math.round(sent / ((performance.now() - began) / 1_000))
  // The account can pay all of it, so everything but an approval is wrong.
  assert.deepEqual(Object.fromEntries(codes), { '00': sent })
  await assertBooksSound(host.owner_db)
  await assertEventsAreWhole(host.owner_db)
  t.diagnostic(`${sent} approvals, ${per_second} a second`)
})
