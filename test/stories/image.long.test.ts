import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'
import { findTool } from '#test/support/tools.ts'

const execute = promisify(execFile)
const no_engine = 'no container engine is running; the steps of the image ran in a plain folder'

/** The command of Docker may be installed without its daemon, or for another machine's. */
async function isRunning(command: string): Promise<boolean> {
  return execute(command, ['info']).then(
    () => true,
    () => false,
  )
}

async function findEngine(): Promise<string | undefined> {
  for (const command of [findTool('docker'), findTool('podman')]) {
    if (command !== undefined && (await isRunning(command))) return command
  }
  return undefined
}

const engine = await findEngine()

const isHealthy = (port: number) =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )

async function settingsFor(port: number): Promise<Record<string, string>> {
  const database = await cloneDatabase()
  after(database.drop)
  const iso_port = String(await freePort())
  const ports = { FLORIN_PORT: String(port), FLORIN_ISO_PORT: iso_port }
  return { ...ports, FLORIN_DATABASE_URL: database.url }
}

test('the image is built, starts and serves', {
  skip: engine === undefined ? no_engine : false,
}, async () => {
  const name = `florin-test-${randomBytes(4).toString('hex')}`
  const call = (...words: string[]) => execute(engine ?? '', words, { maxBuffer: 1 << 26 })
  await call('build', '--tag', name, root)
  const port = await freePort()
  const settings = Object.entries(await settingsFor(port))
  const words = settings.flatMap(([key, value]) => ['--env', `${key}=${value}`])
  await call('run', '--detach', '--network', 'host', '--name', name, ...words, name)
  try {
    const serves = await eventually(() => isHealthy(port), { within_ms: 90_000 })
    assert(serves, (await call('logs', name)).stdout)
  } finally {
    await call('rm', '--force', name)
    await call('rmi', '--force', name)
  }
})

type Step = { verb: string; text: string }

/** The instructions of the Dockerfile, with continued lines joined. */
function stepsIn(source: string): Step[] {
  const lines = source
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines.flatMap((line) => {
    const [, verb = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line.trim()) ?? []
    return verb === '' ? [] : [{ verb, text }]
  })
}

const LEFT_OUT = ['.git', 'data', 'dist', 'node_modules']

type Stage = { folder: string; work: string; env: Record<string, string>; command: string[] }

/** Runs the steps with one folder for each stage. Accounts of the system are not created. */
async function runSteps(steps: readonly Step[], place: string): Promise<Stage> {
  const stages = new Map<string, string>()
  let stage: Stage = { folder: '', work: '', env: {}, command: [] }
  for (const { verb, text } of steps) {
    if (verb === 'FROM') {
      const name = / AS (\w+)$/.exec(text)?.[1] ?? 'last'
      const folder = join(place, name)
      stages.set(name, folder)
      stage = { folder, work: folder, env: {}, command: [] }
    }
    if (verb === 'WORKDIR') stage.work = join(stage.folder, text)
    if (verb === 'COPY') await copy(stage, stages, text.split(' '))
    if (verb === 'RUN' && !/useradd/.test(text)) await runCommand(stage, text)
    if (verb === 'ENV') {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value
    }
    if (['ENTRYPOINT', 'CMD'].includes(verb)) stage.command.push(...JSON.parse(text))
  }
  return stage
}

async function copy(stage: Stage, stages: Map<string, string>, words: string[]): Promise<void> {
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const target = join(stage.work, words.pop() ?? '')
  const source = from === undefined ? root : (stages.get(from) ?? '')
  for (const word of words) {
    const path = join(source, word)
    if (path !== join(root, '.')) {
      const isFolder = from !== undefined
      await cp(path, isFolder ? target : join(target, word), { recursive: true })
      continue
    }
    const tops = (await readdir(root)).filter((name) => !LEFT_OUT.includes(name))
    const filter = (each: string) => !each.endsWith('/node_modules')
    for (const name of tops) {
      await cp(join(root, name), join(target, name), { recursive: true, filter })
    }
  }
}

/** Paths of the image become paths of the stage's folder. */
async function runCommand({ folder, work }: Stage, command: string): Promise<void> {
  for (const path of [work, join(folder, 'tmp')]) await mkdir(path, { recursive: true })
  const mapped = command.replaceAll(/(?<= )\/(tmp|packed)\b/g, `${folder}/$1`)
  // Without the variables of the npm that runs the tests: they name another package.
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }
  await execute('bash', ['-ec', mapped], { cwd: work, env, maxBuffer: 1 << 26 })
}

test('the steps of the Dockerfile, run in a plain folder, give a service that starts and stops', async () => {
  const place = await temporaryFolder()
  after(place.remove)
  const steps = stepsIn(await readFile(join(root, 'Dockerfile'), 'utf8'))
  const { folder, work, env, command } = await runSteps(steps, place.path)
  assert.equal((await readdir(work)).includes('test'), false, 'the image has no tests')
  const port = await freePort()
  const [program = '', ...words] = command
  const child = spawn(program, words, {
    cwd: work,
    env: {
      PATH: process.env['PATH'] ?? '',
      ...env,
      FLORIN_DATA_DIR: join(folder, 'data'),
      FLORIN_SIGNER_SOCKET: '',
      FLORIN_SIGNER_MARK_FILE: '',
      ...(await settingsFor(port)),
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  }
  const ended = once(child, 'close')
  // The signal handlers are set last, before this line is printed.
  const isReady = async () => (await isHealthy(port)) && output.includes('Try it:')
  const serves = await eventually(isReady, { within_ms: 90_000 })
  child.kill(serves ? 'SIGTERM' : 'SIGKILL')
  const [code] = await ended
  assert(serves, output)
  assert.equal(code, 0, output)
})
