import { type Fault, pause } from './fault.ts'

/** The disk of the database is full for a while. A server that gave up is started again. */
export const fillDisk: Fault = {
  name: 'fill disk',
  weight: 2,
  components: () => ['database'],
  isPossible: ({ world }) => world.disk.canBeFilled && world.postgres.isReplicated,
  run: async (context) => {
    const { disk, postgres } = context.world
    await disk.fill()
    await pause(context, 500, 3_000)
    await disk.empty()
    await postgres.restartDead()
  },
}
