import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { readIntent } from './intent_shape.ts'
import type { Signer } from './signer.ts'

export type SignerServer = { stop(): Promise<void> }

/** A request is a few hundred bytes; whoever sends more is not our service. */
const LINE_BYTES_MAX = 16_384
/** The service opens one connection a question; beyond this many the oldest is cut off. */
const CONNECTIONS_MAX = 64

type OnFault = (cause: unknown) => void

/**
 * One JSON object a line over a Unix socket that only our own user and group may open: the intent
 * in, the outcome out, in order. No line and no connection can end the process.
 */
export async function serveSigner(
  signer: Signer,
  path: string,
  onFault: OnFault = () => undefined,
): Promise<SignerServer> {
  await requireNobodyListens(path)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const [oldest] = sockets
    if (sockets.size > CONNECTIONS_MAX) oldest?.destroy()
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    answerLines((line) => answerTo(signer, line, onFault), socket)
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

/** A socket file that nobody answers at was left behind by a signer that was killed. */
async function requireNobodyListens(path: string): Promise<void> {
  const isTaken = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (isTaken) throw new Error(`another signer listens at ${path}`)
  rmSync(path, { force: true })
}

function answerLines(answer: (line: string) => string, socket: Socket): void {
  let held = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    held += text
    if (held.length > LINE_BYTES_MAX) return void socket.destroy()
    const lines = held.split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) {
      if (socket.write(`${answer(line)}\n`)) continue
      // A peer that asks and never reads gets no more answers until it does.
      socket.pause()
      socket.once('drain', () => socket.resume())
    }
  })
}

/** What cannot even be read is refused like any bad intent; nothing about why goes out. */
function answerTo(signer: Signer, line: string, onFault: OnFault): string {
  const intent = readIntent(line)
  if (intent === null) return JSON.stringify({ ok: false, refusal: 'bad_intent' })
  try {
    return JSON.stringify(signer.sign(intent))
  } catch (cause) {
    onFault(cause)
    return JSON.stringify({ ok: false, refusal: 'signer_fault' })
  }
}
