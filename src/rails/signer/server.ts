import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { readIntent } from './intent_shape.ts'
import type { Signer } from './signer.ts'

export type SignerServer = { stop(): Promise<void> }

/** Our requests have a few hundred bytes; a longer one is not from our service. */
const LINE_BYTES_MAX = 16_384
/** The service opens one connection per request; beyond this many the oldest is closed. */
const CONNECTIONS_MAX = 64

type OnFault = (cause: unknown) => void

/**
 * Serves one JSON object per line over a Unix socket that only our user and group may open: intents
 * in, outcomes out, in order. No line and no connection can stop the process.
 */
export async function serveSigner(
  signer: Signer,
  path: string,
  onFault: OnFault = () => undefined,
): Promise<SignerServer> {
  await requireFreeSocket(path)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const [oldest] = sockets
    if (sockets.size > CONNECTIONS_MAX) oldest?.destroy()
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    respondToLines((line) => respondTo(signer, line, onFault), socket)
  })
  const mask = process.umask(0o117)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
      process.umask(mask)
    })
  } finally {
    process.umask(mask)
  }
  chmodSync(path, 0o660)
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Removes the socket file of a killed signer; throws if a signer is listening there. */
async function requireFreeSocket(path: string): Promise<void> {
  const isTaken = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (isTaken) throw new Error(`another signer is listening at ${path}`)
  rmSync(path, { force: true })
}

function respondToLines(response: (line: string) => string, socket: Socket): void {
  let buffered = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    buffered += text
    if (buffered.length > LINE_BYTES_MAX) return void socket.destroy()
    const lines = buffered.split('\n')
    buffered = lines.pop() ?? ''
    for (const line of lines) {
      if (socket.write(`${response(line)}\n`)) continue
      // Backpressure: a peer that does not read gets no further responses.
      socket.pause()
      socket.once('drain', () => socket.resume())
    }
  })
}

/** Errors return a refusal without a reason. */
function respondTo(signer: Signer, line: string, onFault: OnFault): string {
  const intent = readIntent(line)
  if (intent === null) return JSON.stringify({ ok: false, refusal: 'bad_intent' })
  try {
    return JSON.stringify(signer.sign(intent))
  } catch (cause) {
    onFault(cause)
    return JSON.stringify({ ok: false, refusal: 'signer_fault' })
  }
}
