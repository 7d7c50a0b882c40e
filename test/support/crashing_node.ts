import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { node_env } from './node_env.ts'

export type CrashingNode = {
  url: string
  /** From now on the node dies at its failpoint. */
  arm(): Promise<void>
  died: Promise<unknown>
  kill(): Promise<void>
}

/** Starts a node process that kills itself with SIGKILL; stopped after the test file. */
export async function startCrashing(
  crash_at: Failpoint | '',
  env: Record<string, string>,
): Promise<CrashingNode> {
  const child = fork(new URL('crashing.js', import.meta.url), {
    env: {
      ...process.env,
      CRASH_AT: crash_at,
      ...node_env,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  after(() => child.kill('SIGKILL'))
  const died = once(child, 'exit')
  const ready = once(child, 'message') as Promise<[{ url: string }]>
  const [{ url }] = await Promise.race([
    ready,
    died.then(() => Promise.reject(new Error('the node exited before it was ready'))),
  ])
  return {
    url,
    died,
    arm: async () => {
      const armed = once(child, 'message')
      child.send('arm')
      await armed
    },
    kill: async () => {
      child.kill('SIGKILL')
      await died
    },
  }
}
