import { startService } from '#main/start.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import { sandboxCards } from '#sandbox/cards.ts'
import { sandboxCases } from '#sandbox/cases.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { readSettings } from '#settings/settings.ts'
import { challengeSurface } from './challenge_surface.ts'
import { serveCommands } from './child_commands.ts'
import type { NodeInput } from './nodes.ts'

/** A node of Florin. Its chain and signer run in processes of their own. */
const { skew_ms, chains, signer_socket } = JSON.parse(process.env['NODE_INPUT'] ?? '') as NodeInput

/** A machine whose clock is wrong by `skew_ms`. */
function skewedClock(): Clock {
  const clock = systemClock()
  return {
    ...clock,
    now: () => new Date(clock.now().getTime() + skew_ms),
    wall: () => new Date(clock.wall().getTime() + skew_ms),
  }
}

const clock = skewedClock()

/** Throws at these points, as an error in our own code would. */
let failing: { points: readonly string[]; times: number } = { points: [], times: 0 }
const fail: Fail = (point) => {
  if (failing.times === 0 || !failing.points.includes(point)) return
  failing.times -= 1
  throw new Error(`the simulation failed ${point}`)
}

const settings = { ...readSettings(process.env), chains, signer_socket }
const service = await startService(settings, {
  surfaces: [sandboxControl, sandboxCards, sandboxCases, challengeSurface],
  dependencies: { clock, fail },
})

process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)))
serveCommands({
  ready: () => service.url,
  offset: () => clock.offset_ms(),
  fail: (input: typeof failing) => {
    failing = input
  },
})
