import { access } from 'node:fs/promises'
import { countOutstandingCredentials, type OutstandingCredentials } from '#main/key_roots.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { type KeyStore, retireCredentialRoots, rotateKeyFile } from '#platform/storage/key_file.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { credentialPrefix, type Keys, loadKeys } from '#platform/storage/keys.ts'
import { readSettings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'
import { withEachCell } from './with_database.ts'

function keyStore(): KeyStore {
  const { key_file, key_token } = readSettings(process.env)
  return { path: key_file, random: systemRandom, seal: sealFor(key_token, systemRandom) }
}

/** Loading keys creates a file where there is none, whose status would be that of no service. */
async function requireKeyFile({ path }: KeyStore): Promise<void> {
  await access(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    throw new ConfigError(`There is no key file at ${path} yet. \`florin start\` creates it.`)
  })
}

async function openKeys(): Promise<Keys> {
  const store = keyStore()
  await requireKeyFile(store)
  return loadKeys(store.path, store.random, store.seal)
}

/** A running service reloads the key file and re-seals what it stores without a restart. */
export async function keysRotate({ activateAfter }: { activateAfter: string }): Promise<void> {
  const store = keyStore()
  const from = new Date(Date.now() + readMinutes(activateAfter) * 60_000)
  await requireKeyFile(store)
  const { key_id, credential_root } = await rotateKeyFile(store, from)
  const credentials =
    credential_root === null
      ? 'The credential root was not rotated: the last rotation is still in progress. See ' +
        '`florin keys status`.'
      : `From ${credential_root.from} on, new credentials, security codes and approvals use root ` +
        `${credential_root.id}. Existing ones keep working until \`florin keys retire\`.`
  process.stdout.write(
    `${key_id} is now the sealing key in ${store.path}. Keep the old keys: they decrypt existing ` +
      `data and backups.\n${credentials}\nIf other nodes or signers have a copy of the file, ` +
      'update it before then, and restart the signers.\n',
  )
}

/** A week. No other rotation begins before this one is in use, and nothing takes it back. */
const MINUTES_MAX = 10_080

function readMinutes(option: string): number {
  const minutes = Number(option)
  if (/^\d+(\.\d+)?$/.test(option) && minutes <= MINUTES_MAX) return minutes
  throw new UsageError(
    `--activate-after must be a number of minutes from 0 to ${MINUTES_MAX} (got "${option}").`,
  )
}

type Progress = {
  roots: ReturnType<Keys['credentialRoots']>
  /** In all cells; null if there is only one root. */
  outstanding: OutstandingCredentials | null
}

async function progressOf(keys: Keys): Promise<Progress> {
  const roots = keys.credentialRoots()
  const [current] = roots
  if (roots.length === 1) return { roots, outstanding: null }
  const root = { prefix: credentialPrefix(current), from: new Date(current.from), now: new Date() }
  const of_cells = await withEachCell((db) => countOutstandingCredentials(db, root))
  const outstanding: Record<string, number> = {}
  for (const [kind, count] of of_cells.flatMap(({ value }) => Object.entries(value))) {
    outstanding[kind] = (outstanding[kind] ?? 0) + Number(count)
  }
  return { roots, outstanding: outstanding as OutstandingCredentials }
}

const linesOf = (outstanding: OutstandingCredentials) =>
  Object.entries(outstanding).map(([kind, count]) => `  ${kind}: ${count}\n`)

export async function keysStatus(): Promise<void> {
  const keys = await openKeys()
  const { roots, outstanding } = await progressOf(keys)
  const [current, ...others] = roots
  process.stdout.write(`Current credential root: ${current.id}\n`)
  if (outstanding === null) return
  const names = others.map(({ id, from }) => (from > current.from ? `${id} (from ${from})` : id))
  process.stdout.write(`Also accepted: ${names.join(', ')}\nStill on an earlier root:\n`)
  process.stdout.write(linesOf(outstanding).join(''))
}

/** Refuses without --force while credentials still depend on an earlier root. */
export async function keysRetire({ force }: { force?: boolean }): Promise<void> {
  const keys = await openKeys()
  const { roots, outstanding } = await progressOf(keys)
  if (outstanding === null) throw new UsageError('There is no earlier credential root.')
  const [current, ...others] = roots
  if (others.some(({ from }) => from > current.from)) {
    throw new UsageError('The new credential root is not in use yet: see `florin keys status`.')
  }
  const isOutstanding = Object.values(outstanding).some((count) => count > 0)
  if (isOutstanding && force !== true) {
    const lines = linesOf(outstanding).join('')
    process.stderr.write(`These would stop working (--force retires the root anyway):\n${lines}`)
    process.exitCode = 1
    return
  }
  await retireCredentialRoots(keyStore())
  process.stdout.write(`Only ${current.id} is accepted now. Update other copies of the key file.\n`)
}
