import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '#platform/runtime/clock.ts'
import type { SignerHome, SigningOrder, StartSigner } from './signer.ts'

/** What the two processes tell each other. The seed is no part of it. */
export type ToSigner = { home: SignerHome } | { order: SigningOrder } | { offset_ms: number }
export type FromSigner = { xpub: string; hot_wallet: string } | { listens: true }

type Parts = { now_ms(): number; every: Clock['every'] }

const SCRIPT = new URL('./signer_process.js', import.meta.url)

/** How soon it hears that the sandbox's clock was moved. */
const CLOCK_EVERY_MS = 200
const RESTART_MS = 500
const JITTER_MS = 20

/** In a process of its own, so that no key is ever in the service's; one that dies is replaced. */
export function signerApart({ now_ms, every }: Parts): StartSigner {
  return async (home) => {
    let child = fork(SCRIPT)
    let isStopping = false
    let order: SigningOrder | null = null
    let told_offset_ms: number | null = null
    const offset_ms = () => now_ms() - Date.now()
    const tellClock = () => {
      const offset = offset_ms()
      // Both times are read one after the other, so that the same offset may differ by a little.
      const isKnown = told_offset_ms !== null && Math.abs(offset - told_offset_ms) < JITTER_MS
      if (isKnown || !child.connected) return
      told_offset_ms = offset
      tell(child, { offset_ms: offset })
    }
    const keys = await told(child, { home }, 'xpub')
    const replaceOnExit = (): void => {
      child.once('exit', () => {
        if (isStopping) return
        const cancel = every(RESTART_MS, () => {
          cancel()
          if (isStopping) return
          child = fork(SCRIPT)
          told_offset_ms = null
          replaceOnExit()
          void begin(child, home, order)
        })
      })
    }
    replaceOnExit()
    const stopTelling = every(CLOCK_EVERY_MS, tellClock)
    return {
      ...keys,
      serve: async (given) => {
        order = given
        tellClock()
        await told(child, { order }, 'listens')
      },
      stop: async () => {
        isStopping = true
        stopTelling()
        if (!child.connected) return
        const ended = once(child, 'exit')
        child.disconnect()
        await ended
      },
    }
  }
}

async function begin(child: ChildProcess, home: SignerHome, order: SigningOrder | null) {
  await told(child, { home }, 'xpub')
  if (order !== null) tell(child, { order })
}

function tell(child: ChildProcess, message: ToSigner): void {
  // It may be gone at any moment: whoever replaces it hears everything anew.
  if (child.connected) child.send(message, () => undefined)
}

type Answer<Key extends string> = Extract<FromSigner, Record<Key, unknown>>

/** Tells it something and waits for the answer that has this in it. */
async function told<Key extends 'xpub' | 'listens'>(
  child: ChildProcess,
  message: ToSigner,
  key: Key,
): Promise<Answer<Key>> {
  return new Promise((resolve, reject) => {
    const hear = (answer: unknown) => {
      if (!(key in (answer as object))) return
      child.off('message', hear)
      child.off('exit', end)
      resolve(answer as Answer<Key>)
    }
    const end = () => reject(new Error('the signer of the sandbox ended before it answered'))
    child.on('message', hear)
    child.once('exit', end)
    tell(child, message)
  })
}
