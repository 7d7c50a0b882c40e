import { text } from 'node:stream/consumers'
import { CELLS_MAX } from '#kernel/cell.ts'
import { Secret } from '#kernel/secret.ts'
import { hotKeysOf, type PublicWallet, publicWalletsOf, startSignerRole } from '#main/signer.ts'
import { readSettings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'

type Options = { show?: boolean; newRecord?: boolean; cells?: string }

function cellsOf({ cells = '1' }: Options): number {
  const count = Number(cells)
  if (Number.isInteger(count) && count >= 1 && count <= CELLS_MAX) return count
  throw new UsageError(`--cells must be a number from 1 to ${CELLS_MAX} (got "${cells}").`)
}

/** Reads the seed phrase from stdin, because other processes can read arguments and variables. */
export async function startSigner(options: Options): Promise<void> {
  const settings = readSettings(process.env)
  const phrase = new Secret((await text(process.stdin)).trim())
  if (options.show) {
    const parts = publicWalletsOf(phrase, hotKeysOf(settings), cellsOf(options))
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
  const lines = parts.flatMap(({ family, xpub, hot_wallets }) => [
    `${family}  xpub        ${xpub}`,
    ...hot_wallets.map((wallet, cell) =>
      cell === 0
        ? `${family}  hot_wallet  ${wallet}`
        : `${family}  hot_wallet  ${wallet}  (cell ${cell})`,
    ),
  ])
  return `${lines.join('\n')}\n`
}
