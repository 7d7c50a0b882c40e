import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'

/** A process of the simulation that the driver commands and kills. */
export type Child = {
  pid: number
  /** Runs a command in the process. Rejects if the process ends first, or takes too long. */
  call<Result>(command: string, input?: unknown): Promise<Result>
  kill(signal: NodeJS.Signals): void
  isAlive(): boolean
  ended: Promise<unknown>
}

type PendingReply = { resolve(value: unknown): void; reject(cause: Error): void }
type Reply = { id: number; result?: unknown; error?: string }

/** The longest command is a start; a process that takes longer hangs, and the run says where. */
const CALL_MS_MAX = 90_000

export type ChildOptions = { env?: Record<string, string>; log_file: string }

/** Forks a built script; `serveCommands` is its side of the channel. */
export function startChild(script: URL, { env = {}, log_file }: ChildOptions): Child {
  const log = openSync(log_file, 'a')
  const child: ChildProcess = fork(script, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', log, log, 'ipc'],
    serialization: 'advanced',
  })
  const waiting = new Map<number, PendingReply>()
  let sent = 0
  let isAlive = true
  child.on('message', ({ id, result, error }: Reply) => {
    const one = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) one?.resolve(result)
    else one?.reject(new Error(error))
  })
  child.on('error', () => undefined)
  const ended = once(child, 'exit').then(() => {
    isAlive = false
    for (const one of waiting.values()) one.reject(new Error('the process ended'))
    waiting.clear()
  })
  return {
    pid: child.pid ?? 0,
    call: <Result>(command: string, input?: unknown) =>
      new Promise<Result>((resolve, reject) => {
        if (!isAlive) return reject(new Error('the process has ended'))
        sent += 1
        const timer = setTimeout(
          () => reject(new Error(`no response to ${command} within ${CALL_MS_MAX} ms`)),
          CALL_MS_MAX,
        )
        const ends =
          <Value>(settle: (value: Value) => void) =>
          (value: Value) => {
            clearTimeout(timer)
            settle(value)
          }
        waiting.set(sent, {
          resolve: ends(resolve as PendingReply['resolve']),
          reject: ends(reject),
        })
        child.send({ id: sent, command, input }, () => undefined)
      }),
    kill: (signal) => void child.kill(signal),
    isAlive: () => isAlive,
    ended,
  }
}
