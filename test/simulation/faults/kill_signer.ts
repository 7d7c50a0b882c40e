import { type Fault, pause } from './fault.ts'

/** SIGKILL of the signer. Withdrawals wait for it; nothing else may notice. */
export const killSigner: Fault = {
  name: 'kill signer',
  weight: 6,
  components: () => [],
  run: async (context) => {
    const { signer } = context.world
    await signer.kill()
    await pause(context, 200, 3_000)
    await signer.restart()
  },
}
