import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import type { TransferIntent } from './intent.ts'
import type { Signer } from './signer.ts'

export type SignerServer = { stop(): Promise<void> }

/** A request is a few hundred bytes; whoever sends more is not our service. */
const LINE_BYTES_MAX = 16_384

/**
 * One JSON object a line over a Unix socket that only our own user may open: the intent in, the
 * outcome out, in order.
 */
export async function serveSigner(signer: Signer, path: string): Promise<SignerServer> {
  await requireNobodyListens(path)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    answerLines(signer, socket)
  })
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
      process.umask(mask)
    })
  } finally {
    process.umask(mask)
  }
  chmodSync(path, 0o600)
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

function answerLines(signer: Signer, socket: Socket): void {
  let held = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    held += text
    if (held.length > LINE_BYTES_MAX) return void socket.destroy()
    const lines = held.split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) socket.write(`${answerTo(signer, line)}\n`)
  })
}

/** What cannot even be read is refused like any bad intent; nothing about why goes out. */
function answerTo(signer: Signer, line: string): string {
  const intent = intentIn(line)
  if (intent === null) return JSON.stringify({ ok: false, refusal: 'bad_intent' })
  return JSON.stringify(signer.sign(intent))
}

const WORDS = ['id', 'purpose', 'chain', 'to', 'amount'] as const

function intentIn(line: string): TransferIntent | null {
  let value: Partial<Record<string, unknown>> | null
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const isWorded = WORDS.every((name) => typeof value[name] === 'string')
  const isCounted = Number.isInteger(value['attempt']) && Number(value['attempt']) > 0
  const hasNetwork = typeof value['network'] === 'object' && value['network'] !== null
  return isWorded && isCounted && hasNetwork ? (value as TransferIntent) : null
}
