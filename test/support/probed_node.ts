import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { cloneDatabase } from './database.ts'
import { node_env } from './node_env.ts'

type ProbedNode = {
  url: string
  /** The longest turn of its event loop since the last call. */
  longestTurn(): Promise<number>
}

/** Starts a node process that measures its event loop; stopped after the test file. */
export async function startProbed(env: Record<string, string> = {}): Promise<ProbedNode> {
  const database = await cloneDatabase()
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_probed_'))
  const child = fork(new URL('./probed.js', import.meta.url), {
    env: {
      ...process.env,
      ...node_env,
      FLORIN_DATA_DIR: data_dir,
      FLORIN_DATABASE_URL: database.url,
      FLORIN_OPERATOR_TOKEN: 'operator_token_of_the_tests',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  after(async () => {
    child.kill('SIGKILL')
    await ended
    await database.drop()
    await rm(data_dir, { recursive: true, force: true })
  })
  const nextMessage = async <Message>() => ((await once(child, 'message')) as [Message])[0]
  const { url } = await Promise.race([
    nextMessage<{ url: string }>(),
    ended.then(() => Promise.reject(new Error('the node exited before it was ready'))),
  ])
  return {
    url,
    longestTurn: async () => {
      const measurement = nextMessage<{ worst_ms: number }>()
      child.send('turn')
      return (await measurement).worst_ms
    },
  }
}
