import { systemRandom } from '#platform/runtime/random.ts'
import { type SandboxSigner, signerInProcess } from './signer.ts'
import type { SignerCommand, SignerReply } from './signer_in_child_process.ts'

/** The sandbox's signer as a child process. It exits only when its parent disconnects. */
let offset_ms = 0
let signer: SandboxSigner | null = null

const reply = (answer: SignerReply) => process.send?.(answer)

async function handleCommand(message: SignerCommand): Promise<void> {
  if ('offset_ms' in message) {
    offset_ms = message.offset_ms
  } else if ('files' in message) {
    const now_ms = () => Date.now() + offset_ms
    signer = await signerInProcess({ now_ms, random: systemRandom })(message.files)
    const { xpub, hot_wallet, hot_wallets } = signer
    reply({ xpub, hot_wallet, hot_wallets })
  } else {
    await signer?.serve(message.options)
    reply({ listens: true })
  }
}

process.on('message', (message: SignerCommand) => void handleCommand(message))
process.on(
  'disconnect',
  () => void (signer?.stop() ?? Promise.resolve()).then(() => process.exit()),
)
// A terminal signals the whole process group, but the service still needs its signer.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
