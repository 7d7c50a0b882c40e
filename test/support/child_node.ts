import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { cellEnv } from './account_cell.ts'
import { node_env } from './node_env.ts'

export type ChildNode = {
  url: string
  card_host_port: number
  version: string
  /** Finishes the requests in flight and exits; resolves with the exit code. */
  stop(): Promise<number | null>
  /** kill -9. */
  kill(): Promise<void>
}

type Options = {
  database_url: string
  data_dir: string
  package_dir?: string
  /** Replaces variables of the node's environment. */
  env?: Record<string, string>
}

/** Starts a node as a process, from this checkout or from another version's folder. */
export async function startChildNode(options: Options): Promise<ChildNode> {
  const { database_url, data_dir, package_dir = root } = options
  const child = fork(join(package_dir, 'dist/test/support/node_process.js'), {
    cwd: package_dir,
    env: {
      ...process.env,
      ...node_env,
      ...(await cellEnv(database_url)),
      FLORIN_DATA_DIR: data_dir,
      ...options.env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit') as Promise<[number | null]>
  const ready = once(child, 'message') as Promise<[Omit<ChildNode, 'stop' | 'kill'>]>
  const [started] = await Promise.race([
    ready,
    ended.then(() => Promise.reject(new Error('the node exited before it was ready'))),
  ])
  return {
    ...started,
    stop: async () => {
      child.send('stop')
      return (await ended)[0]
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const SHIPPED = ['dist/package.json', 'dist/src', 'dist/sandbox', 'dist/packages', 'dist/browser']
const ALSO = ['dist/test/support', 'dist/client', 'migrations', 'openapi.json', 'CHANGELOG.md']

type OtherVersion = {
  version: string
  /** Further migrations by name. */
  migrations: Record<string, string>
  /** Replaced in a built file, by its path in src; each text must be there. */
  edits: { file: string; replaced: readonly (readonly [string, string])[] }
}

/** A copy of this version with another version number, with more migrations and other code. */
export async function makeVersion(
  folder: string,
  { version, migrations, edits }: OtherVersion,
): Promise<void> {
  for (const path of [...SHIPPED, ...ALSO, 'package.json', 'docs']) {
    await cp(join(root, path), join(folder, path), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const path of ['package.json', 'dist/package.json']) {
    const manifest = JSON.parse(await readFile(join(folder, path), 'utf8')) as object
    await writeFile(join(folder, path), JSON.stringify({ ...manifest, version }))
  }
  for (const [name, sql] of Object.entries(migrations)) {
    await writeFile(join(folder, 'migrations', name), sql)
  }
  const file = join(folder, 'dist/src', edits.file)
  let code = await readFile(file, 'utf8')
  for (const [from, to] of edits.replaced) {
    if (!code.includes(from)) throw new Error(`${edits.file} has no "${from}"`)
    code = code.replace(from, to)
  }
  await writeFile(file, code)
}
