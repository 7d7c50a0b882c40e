import { type Fault, pause } from './fault.ts'

/** SIGKILL of one server process, after which PostgreSQL restarts all of them. */
export const killBackend: Fault = {
  name: 'kill backend',
  weight: 4,
  components: () => ['database'],
  run: async (context) => {
    await context.world.postgres.killBackend(context.random.below(1_000))
    await pause(context, 300, 600)
  },
}

/** An administrator ends one connection. */
export const terminateBackend: Fault = {
  name: 'terminate backend',
  weight: 8,
  components: () => ['database'],
  run: async (context) => {
    await context.world.postgres.terminateBackend(context.random.below(50))
    await pause(context, 50, 200)
  },
}
