import { type Fault, pause } from './fault.ts'

/** The primary dies, the standby takes over, and the old primary becomes the new standby. */
export const promoteStandby: Fault = {
  name: 'promote standby',
  weight: 3,
  components: () => ['database'],
  isPossible: ({ world }) => world.postgres.isReplicated,
  run: async (context) => {
    const { postgres } = context.world
    const old_primary = postgres.primary
    await postgres.kill(old_primary)
    await pause(context, 0, 1_500)
    await postgres.promote()
    // The old primary may come back for a while before somebody rebuilds it.
    if (context.random.chance(40)) {
      await postgres.restart(old_primary)
      await pause(context, 200, 2_000)
    }
    await postgres.rebuildStandby()
  },
}
