import { text } from 'node:stream/consumers'
import { Secret } from '#kernel/secret.ts'
import { hotKeyOf, type PublicWallet, publicWalletsOf, startSignerRole } from '#main/signer.ts'
import { readSettings } from '#settings/settings.ts'

/** Reads the seed phrase from stdin, because other processes can read arguments and variables. */
export async function startSigner(options: { show?: boolean; newRecord?: boolean }): Promise<void> {
  const settings = readSettings(process.env)
  const phrase = new Secret((await text(process.stdin)).trim())
  if (options.show) {
    const parts = publicWalletsOf(phrase, hotKeyOf(settings))
    return void process.stdout.write(formatPublicKeys(parts))
  }
  const onFault = (cause: unknown) => void process.stderr.write(`${describeError(cause)}\n`)
  const create = options.newRecord === true
  const signer = await startSignerRole(settings, phrase, { create, onFault })
  process.stderr.write(`The signer is listening on ${settings.signer_socket}\n`)
  const stop = () => void signer.stop().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

const describeError = (cause: unknown) => (cause instanceof Error ? cause.stack : String(cause))

function formatPublicKeys(parts: readonly PublicWallet[]): string {
  const lines = parts.flatMap(({ family, xpub, hot_wallet }) => [
    `${family}  xpub        ${xpub}`,
    `${family}  hot_wallet  ${hot_wallet}`,
  ])
  return `${lines.join('\n')}\n`
}
