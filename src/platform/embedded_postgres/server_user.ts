import { execFile } from 'node:child_process'
import { access, chown, constants, readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/**
 * The user that PostgreSQL runs as. It refuses uid 0, so root starts it as another user or, if no
 * other user can reach the folder, in a user namespace where root's files belong to `nobody`.
 */
export type ServerUser =
  | { way: 'self'; uid: number; gid: number }
  | { way: 'other'; uid: number; gid: number }
  | { way: 'namespace'; uid: 0; gid: 0 }

export type Invocation = { command: string; args: string[]; uid?: number; gid?: number }

const NAMESPACE_ARGS = ['-U', '--map-user=65534', '--map-group=65534', '--']
const namespace_root: ServerUser = { way: 'namespace', uid: 0, gid: 0 }

/** The owner of an existing cluster decides: PostgreSQL refuses files of other users. */
export async function chooseServerUser(data_dir: string, cluster_dir: string): Promise<ServerUser> {
  // Windows has no uids.
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  const cluster = await stat(cluster_dir).catch(() => null)
  if (uid !== 0) {
    if (uid !== -1 && cluster !== null && cluster.uid !== uid) {
      throw new Error(
        `The database in ${cluster_dir} belongs to uid ${cluster.uid}, and this process runs as ` +
          `uid ${uid}. Start as that user or as root, or choose another FLORIN_DATA_DIR.`,
      )
    }
    return { way: 'self', uid, gid }
  }
  if (cluster !== null && cluster.uid !== 0) {
    return { way: 'other', uid: cluster.uid, gid: cluster.gid }
  }
  if (cluster === null) {
    const other = await unprivilegedUser()
    if (other !== null && (await canReach(other, data_dir))) return other
  }
  await requireNamespace(data_dir)
  return namespace_root
}

/** Never creates a user: an embedded database must not change the machine. */
async function unprivilegedUser(): Promise<ServerUser | null> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  for (const name of ['postgres', 'nobody']) {
    const line = passwd.split('\n').find((entry) => entry.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(':') ?? []
    // macOS writes nobody's uid as -2, an unsigned 32-bit number.
    if (uid !== undefined) return { way: 'other', uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  return null
}

/**
 * True if the user can traverse every folder down to this one. Root in a user namespace has no
 * privileges outside it, so the same mode bits apply.
 */
export async function canReach(user: ServerUser, path: string): Promise<boolean> {
  if (user.way === 'self') {
    return access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
  }
  let at = await realpath(path)
  for (;;) {
    const { mode, uid, gid } = await stat(at)
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
    if (((mode >> shift) & 1) === 0) return false
    if (dirname(at) === at) return true
    at = dirname(at)
  }
}

async function requireNamespace(data_dir: string): Promise<void> {
  const works = await promisify(execFile)('unshare', [...NAMESPACE_ARGS, 'true']).then(
    () => canReach(namespace_root, data_dir),
    () => false,
  )
  if (works) return
  throw new Error(
    `PostgreSQL does not run as root, and no other user can reach ${data_dir}. Allow others to ` +
      'pass its parent folders (chmod o+x), set FLORIN_DATA_DIR to a folder they can reach, ' +
      'start as an ordinary user, or set FLORIN_DATABASE_URL to a PostgreSQL of your own.',
  )
}

export function invocationAs(user: ServerUser, program: string, args: string[]): Invocation {
  switch (user.way) {
    case 'self':
      return { command: program, args }
    case 'other':
      return { command: program, args, uid: user.uid, gid: user.gid }
    case 'namespace':
      return { command: 'unshare', args: [...NAMESPACE_ARGS, program, ...args] }
  }
}

export async function giveTo(user: ServerUser, path: string): Promise<void> {
  if (user.way === 'other') await chown(path, user.uid, user.gid)
}
