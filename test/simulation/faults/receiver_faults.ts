import type { ReceiverMode } from '#test/simulation/world/receivers.ts'
import { type Fault, pause } from './fault.ts'

const MODES: readonly ReceiverMode[] = ['error', 'hang', 'reset', 'redirect', 'broken']

/** One webhook endpoint fails in some way; nobody else may notice. */
export const receiverFails: Fault = {
  name: 'receiver fails',
  weight: 6,
  components: () => [],
  run: async (context) => {
    const { random, receivers } = context
    const receiver = random.pick(receivers)
    receiver.mode = random.pick(MODES)
    await pause(context, 500, 4_000)
    receiver.mode = 'ok'
  },
}
