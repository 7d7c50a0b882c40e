import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Dependencies } from '#domain/context/context.ts'
import { cloneDatabase } from './database.ts'
import { startTestService, type TestService } from './start.ts'

type Nodes = { first: TestService; second: TestService }

/** Two nodes of one service; both are stopped before their database is dropped. */
export async function startTwoNodes(
  env: Record<string, string> = {},
  dependencies: Partial<Dependencies> = {},
): Promise<Nodes> {
  const database = await cloneDatabase()
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_nodes_'))
  const options = { env, dependencies, database_url: database.url, data_dir }
  const first = await startTestService(options)
  const second = await startTestService(options)
  after(async () => {
    await database.drop()
    await rm(data_dir, { recursive: true, force: true })
  })
  return { first, second }
}
