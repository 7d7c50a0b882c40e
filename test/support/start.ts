import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Dependencies } from '#domain/context/context.ts'
import { type RunningService, startService } from '#main/start.ts'
import type { Runtime } from '#operations/runtime.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { type Sandbox, startSandbox } from '#sandbox/sandbox.ts'
import { signerInProcess } from '#sandbox/signer.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { cellEnv, inAccountCell, openAccountCell } from './account_cell.ts'
import { node_env } from './node_env.ts'

export type TestService = RunningService & {
  /** The runtime of cell 0, with the operators and OAuth clients; with one cell, the only one. */
  home: Runtime
  database_url: string
  /** The database as its owner, for statements that the service's role may not run. */
  owner_db: Database
  data_dir: string
  /** The sandbox's chain and signer, shared by services with the same data folder. */
  sandbox: Sandbox
}

type Options = {
  env?: Record<string, string>
  dependencies?: Partial<Dependencies>
  database_url?: string
  data_dir?: string
}

/** Starts the whole service on a new database and a free port; stopped after the test file. */
export async function startTestService(options: Options = {}): Promise<TestService> {
  const data_dir = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'florin_test_')))
  const database = options.database_url === undefined ? await openAccountCell() : null
  const database_url = options.database_url ?? database?.url ?? ''
  const hasOwnCells = options.env?.['FLORIN_CELLS'] !== undefined
  const settings = readSettings({
    ...node_env,
    FLORIN_PASSWORD_HASH_MIB: '1',
    FLORIN_DATA_DIR: data_dir,
    ...(hasOwnCells ? { FLORIN_DATABASE_URL: database_url } : await cellEnv(database_url)),
    FLORIN_OPERATOR_TOKEN: 'operator_token_of_the_tests',
    ...options.env,
  })
  const clock = options.dependencies?.clock ?? systemClock()
  const sandbox = await sandboxOf(settings, clock)
  const { prices } = settings.x402
  const x402 = { ...sandbox.settings.x402, prices }
  const with_sandbox = { ...settings, ...pickChainSettings(sandbox.settings), x402 }
  const started = await startService(with_sandbox, {
    surfaces: [sandboxControl, ...sandbox.surfaces],
    dependencies: { log: silentLog, ...options.dependencies, clock },
  })
  const running = hasOwnCells ? started : await inAccountCell(started)
  const owner_db = openDatabase(database_url, { pool_size: 2 })
  after(async () => {
    await running.stop()
    await owner_db.close()
    await database?.drop()
    if (options.data_dir === undefined) await rm(data_dir, { recursive: true, force: true })
  })
  return { ...running, home: started.runtime, database_url, owner_db, data_dir, sandbox }
}

const pickChainSettings = ({ chains, signer_socket }: Settings) => ({ chains, signer_socket })

type SharedSandbox = { sandbox: Promise<Sandbox>; clock: Clock }
const sandboxes = new Map<string, SharedSandbox>()

/** Services of one data folder share a sandbox; the newest one provides its clock. */
function sandboxOf(settings: Settings, clock: Clock): Promise<Sandbox> {
  const known = sandboxes.get(settings.data_dir)
  if (known !== undefined) {
    known.clock = clock
    return known.sandbox
  }
  const now_ms = () => (sandboxes.get(settings.data_dir)?.clock ?? clock).now().getTime()
  const sandbox = startSandbox({
    settings,
    now_ms,
    wall_ms: () => Date.now(),
    every: systemClock().every,
    startSigner: signerInProcess({ now_ms, random: systemRandom }),
  })
  sandboxes.set(settings.data_dir, { sandbox, clock })
  after(async () => (await sandbox).stop())
  return sandbox
}
