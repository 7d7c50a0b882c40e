import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { giveTo, invocationAs, type ServerUser } from './server_user.ts'

/** A database cluster on disk, and what is needed to run PostgreSQL's programs on it. */
export type Cluster = {
  dir: string
  password_file: string
  /** The folder that holds bin/, lib/ and share/. */
  binaries: string
  user: ServerUser
  durable: boolean
}

const PASSWORD_BYTES = 24

/** A fixed environment: messages in English, and no PG* variables of the operator. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', SystemRoot } = process.env
  return { PATH, LC_ALL: 'C', TZ: 'UTC', ...(SystemRoot === undefined ? {} : { SystemRoot }) }
}

/** Creates the cluster if it doesn't exist; returns its password. */
export async function requireCluster(cluster: Cluster): Promise<string> {
  const exists = await isThere(join(cluster.dir, 'PG_VERSION'))
  if (!exists && (await isThere(cluster.dir))) {
    throw new Error(`${cluster.dir} is not a PostgreSQL cluster. Move it away, then start again.`)
  }
  const password = exists ? await readPassword(cluster) : await createPassword(cluster)
  if (!exists) await initializeCluster(cluster)
  return password
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

async function readPassword({ dir, password_file }: Cluster): Promise<string> {
  return readFile(password_file, 'utf8').catch((cause: unknown) => {
    throw new Error(
      `The database in ${dir} cannot be opened, because its password is not readable in ` +
        `${password_file}. Restore that file, or move both away to start with an empty database.`,
      { cause },
    )
  })
}

/**
 * With `trust` every local user could connect, so the server requires a password. It is on disk
 * before the cluster, and belongs to the server's user because initdb reads it.
 */
async function createPassword({ password_file, user }: Cluster): Promise<string> {
  const password = randomBytes(PASSWORD_BYTES).toString('hex')
  const aside = `${password_file}.new`
  try {
    await rm(aside, { force: true })
    const file = await open(aside, 'wx', 0o600)
    await file.writeFile(password)
    await file.sync()
    await file.close()
    await giveTo(user, aside)
    await rename(aside, password_file)
    await syncFolder(dirname(password_file))
  } finally {
    await rm(aside, { force: true })
  }
  return password
}

/**
 * Creates the cluster in a temporary folder and renames it, so an incomplete one is never used.
 * Every attempt has its own folder, because the initdb of a killed process may still be writing.
 */
async function initializeCluster({
  dir,
  password_file,
  binaries,
  user,
  durable,
}: Cluster): Promise<void> {
  const aside = `${dir}.init`
  const attempt = join(aside, randomBytes(8).toString('hex'))
  await rm(aside, { recursive: true, force: true, maxRetries: 5 })
  await mkdir(attempt, { recursive: true })
  await chmod(aside, 0o711)
  await chmod(attempt, 0o700)
  await giveTo(user, attempt)
  const { command, args, ...as_user } = invocationAs(user, join(binaries, 'bin', 'initdb'), [
    `--pgdata=${attempt}`,
    `--pwfile=${password_file}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    ...(durable ? [] : ['--no-sync']),
  ])
  try {
    await promisify(execFile)(command, args, { ...as_user, cwd: '/', env: serverEnvironment() })
    await rename(attempt, dir)
    await syncFolder(dirname(dir))
  } finally {
    await rm(aside, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A rename is durable only after its folder is synced. Windows can't open folders. */
async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(dir, 'r')
  await folder.sync().finally(() => folder.close())
}
