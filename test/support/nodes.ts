import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Dependencies } from '#domain/context/context.ts'
import { type ChildNode, startChildNode } from './child_node.ts'
import { cloneDatabase } from './database.ts'
import { startTestService, type TestService } from './start.ts'

/** Nodes as processes of their own beside a service in the test's process. */
export async function startNodeProcesses(
  count: number,
): Promise<{ host: TestService; nodes: ChildNode[] }> {
  const database = await cloneDatabase()
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_nodes_'))
  const host = await startTestService({ database_url: database.url, data_dir })
  const env = { FLORIN_CHAINS: JSON.stringify(host.sandbox.settings.chains) }
  const nodes: ChildNode[] = []
  for (let at = 0; at < count; at += 1) {
    nodes.push(await startChildNode({ database_url: database.url, data_dir, env }))
  }
  after(async () => {
    await database.drop()
    await rm(data_dir, { recursive: true, force: true })
  })
  return { host, nodes }
}

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
