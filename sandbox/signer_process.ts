import { systemRandom } from '#platform/runtime/random.ts'
import { type SandboxSigner, signerInside } from './signer.ts'
import type { FromSigner, ToSigner } from './signer_apart.ts'

/** The sandbox's signer as a process: it ends with whoever started it, and by nothing else. */
let offset_ms = 0
let signer: SandboxSigner | null = null

const say = (answer: FromSigner) => process.send?.(answer)

async function obey(message: ToSigner): Promise<void> {
  if ('offset_ms' in message) {
    offset_ms = message.offset_ms
  } else if ('home' in message) {
    const now_ms = () => Date.now() + offset_ms
    signer = await signerInside({ now_ms, random: systemRandom })(message.home)
    say({ xpub: signer.xpub, hot_wallet: signer.hot_wallet })
  } else {
    await signer?.serve(message.order)
    say({ listens: true })
  }
}

process.on('message', (message: ToSigner) => void obey(message))
process.on(
  'disconnect',
  () => void (signer?.stop() ?? Promise.resolve()).then(() => process.exit()),
)
// A terminal tells everybody to end; the service is not done with its signer yet.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
