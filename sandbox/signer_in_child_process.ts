import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '#platform/runtime/clock.ts'
import type { SandboxSigner, SignerFiles, SignerOptions, StartSigner } from './signer.ts'

/** The messages between the two processes. They never contain the seed. */
export type SignerCommand =
  | { files: SignerFiles }
  | { options: SignerOptions }
  | { offset_ms: number }
export type SignerReply =
  | Pick<SandboxSigner, 'xpub' | 'hot_wallet' | 'hot_wallets'>
  | { listens: true }

type ChildProcessDependencies = { now_ms(): number; every: Clock['every'] }

const SCRIPT = new URL('./signer_process.js', import.meta.url)

/** The interval for sending clock changes to the signer. */
const CLOCK_EVERY_MS = 200
const RESTART_MS = 500
const JITTER_MS = 20

/** Runs in a child process, so no key is in the service's memory. A dead child is replaced. */
export function signerInChildProcess({ now_ms, every }: ChildProcessDependencies): StartSigner {
  return async (files) => {
    let child = fork(SCRIPT)
    let isStopping = false
    let options: SignerOptions | null = null
    let sent_offset_ms: number | null = null
    const offset_ms = () => now_ms() - Date.now()
    const sendClock = () => {
      const offset = offset_ms()
      // The two clocks are read one after the other, so equal offsets differ slightly.
      const isKnown = sent_offset_ms !== null && Math.abs(offset - sent_offset_ms) < JITTER_MS
      if (isKnown || !child.connected) return
      sent_offset_ms = offset
      send(child, { offset_ms: offset })
    }
    const keys = await request(child, { files }, 'xpub')
    const replace = (): void => {
      if (isStopping) return
      child = fork(SCRIPT)
      sent_offset_ms = null
      replaceOnExit()
      // One that ends before it replies is replaced like any other.
      begin(child, files, options).catch(() => undefined)
    }
    const replaceOnExit = (): void => {
      child.once('exit', () => {
        if (isStopping) return
        const cancel = every(RESTART_MS, () => {
          cancel()
          replace()
        })
      })
    }
    replaceOnExit()
    const stopSendingClock = every(CLOCK_EVERY_MS, sendClock)
    return {
      ...keys,
      serve: async (given) => {
        options = given
        sendClock()
        await request(child, { options }, 'listens')
      },
      stop: async () => {
        isStopping = true
        stopSendingClock()
        if (!child.connected) return
        const ended = once(child, 'exit')
        child.disconnect()
        await ended
      },
    }
  }
}

async function begin(child: ChildProcess, files: SignerFiles, options: SignerOptions | null) {
  await request(child, { files }, 'xpub')
  if (options !== null) send(child, { options })
}

function send(child: ChildProcess, message: SignerCommand): void {
  // The child may be gone at any time; its replacement gets all messages again.
  if (child.connected) child.send(message, () => undefined)
}

type Answer<Key extends string> = Extract<SignerReply, Record<Key, unknown>>

/** Sends a message and waits for the reply with this key. */
async function request<Key extends 'xpub' | 'listens'>(
  child: ChildProcess,
  message: SignerCommand,
  key: Key,
): Promise<Answer<Key>> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: unknown) => {
      if (!(key in (answer as object))) return
      child.off('message', onMessage)
      child.off('exit', end)
      resolve(answer as Answer<Key>)
    }
    const end = () => reject(new Error('the sandbox signer exited before it replied'))
    child.on('message', onMessage)
    child.once('exit', end)
    send(child, message)
  })
}
