import { connect } from 'node:net'
import type { Clock } from '#platform/runtime/clock.ts'
import type { SignOutcome, TransferIntent } from './intent.ts'

/** The signer gave no answer; nothing is known of what it did, and asking again is safe. */
export class SignerUnavailable extends Error {}

export type SignerClient = { sign(intent: TransferIntent): Promise<SignOutcome> }

const DEADLINE_MS = 10_000

/** A connection per question: they are few, and a signer that came back needs no reconnecting. */
export function signerClient(path: string, clock: Pick<Clock, 'sleep'>): SignerClient {
  return {
    sign: async (intent) => {
      const line = await ask(path, JSON.stringify(intent), clock)
      return JSON.parse(line) as SignOutcome
    },
  }
}

function ask(path: string, question: string, clock: Pick<Clock, 'sleep'>): Promise<string> {
  const over = new AbortController()
  const answer = new Promise<string>((resolve, reject) => {
    let held = ''
    const socket = connect(path, () => socket.write(`${question}\n`))
    const fail = (cause?: unknown) => {
      socket.destroy()
      reject(new SignerUnavailable('the signer does not answer', { cause }))
    }
    socket.setEncoding('utf8')
    socket.on('error', fail)
    socket.on('close', () => fail())
    socket.on('data', (text: string) => {
      held += text
      const end = held.indexOf('\n')
      if (end < 0) return
      resolve(held.slice(0, end))
      socket.destroy()
    })
    void clock.sleep(DEADLINE_MS, over.signal).then(() => fail())
  })
  return answer.finally(() => over.abort())
}
