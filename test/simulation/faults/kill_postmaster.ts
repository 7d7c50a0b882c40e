import { type Fault, pause } from './fault.ts'

/** SIGKILL of the primary's postmaster, then the same server again. */
export const killPostmaster: Fault = {
  name: 'kill postmaster',
  weight: 3,
  components: () => ['database'],
  run: async (context) => {
    const { postgres } = context.world
    const { primary } = postgres
    await postgres.kill(primary)
    await pause(context, 0, 2_000)
    await postgres.restart(primary)
  },
}

/** SIGKILL of the standby: commits wait for it until it is back. */
export const killStandby: Fault = {
  name: 'kill standby',
  weight: 3,
  components: () => ['database'],
  isPossible: ({ world }) => world.postgres.isReplicated,
  run: async (context) => {
    const { postgres } = context.world
    const { standby } = postgres
    await postgres.kill(standby)
    await pause(context, 0, 1_500)
    await postgres.restart(standby)
  },
}
