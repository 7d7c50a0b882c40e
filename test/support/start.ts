import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type Running, startService } from '#main/start.ts'
import { readSettings } from '#platform/config.ts'
import type { Seams } from '#platform/context.ts'
import { silentLog } from '#platform/log.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { cloneDatabase } from './database.ts'

export type TestService = Running & { database_url: string; data_dir: string }

type Options = {
  env?: Record<string, string>
  seams?: Partial<Seams>
  database_url?: string
  data_dir?: string
}

/** The whole service on a database of its own and a free port; stopped after the test file. */
export async function startTestService(options: Options = {}): Promise<TestService> {
  const data_dir = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'florin_test_')))
  const database = options.database_url === undefined ? await cloneDatabase() : null
  const database_url = options.database_url ?? database?.url ?? ''
  const settings = readSettings({
    FLORIN_PORT: '0',
    FLORIN_RATE_PROFILE: 'off',
    FLORIN_DATA_DIR: data_dir,
    FLORIN_DATABASE_URL: database_url,
    FLORIN_OPERATOR_TOKEN: 'operator_token_of_the_tests',
    ...options.env,
  })
  const running = await startService(settings, {
    surfaces: [sandboxControl],
    seams: { log: silentLog, ...options.seams },
  })
  after(async () => {
    await running.stop()
    await database?.drop()
    if (options.data_dir === undefined) await rm(data_dir, { recursive: true, force: true })
  })
  return { ...running, database_url, data_dir }
}
