import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { SignerFiles, SignerOptions } from '#sandbox/signer.ts'
import type { SignerCommand, SignerReply } from '#sandbox/signer_in_child_process.ts'

/** The sandbox's signer as a process that the driver can kill and start again. */
export type Signer = {
  xpub: string
  hot_wallet: string
  serve(options: SignerOptions): Promise<void>
  /** Moves its clock to that of the service. */
  offset(ms: number): void
  kill(): Promise<void>
  restart(): Promise<void>
}

const SCRIPT = new URL('../../../sandbox/signer_process.js', import.meta.url)
type Keys = Extract<SignerReply, { xpub: string }>

export async function startSigner(files: SignerFiles): Promise<Signer> {
  let child = fork(SCRIPT)
  let options: SignerOptions | null = null
  let offset_ms = 0
  const { xpub, hot_wallet } = (await command(child, { files }, 'xpub')) as Keys
  return {
    xpub,
    hot_wallet,
    serve: async (given) => {
      options = given
      await command(child, { options: given }, 'listens')
    },
    offset: (ms) => {
      offset_ms = ms
      if (child.connected) child.send({ offset_ms: ms }, () => undefined)
    },
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    restart: async () => {
      child = fork(SCRIPT)
      await command(child, { files }, 'xpub')
      child.send({ offset_ms }, () => undefined)
      if (options !== null) await command(child, { options }, 'listens')
    },
  }
}

function command(child: ChildProcess, message: SignerCommand, key: string): Promise<SignerReply> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: SignerReply) => {
      if (!(key in reply)) return
      child.off('message', onMessage)
      resolve(reply)
    }
    child.on('message', onMessage)
    child.once('exit', () => reject(new Error('the signer exited before it replied')))
    child.send(message, () => undefined)
  })
}
