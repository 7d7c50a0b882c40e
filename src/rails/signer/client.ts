import { connect } from 'node:net'
import type { Clock } from '#platform/runtime/clock.ts'
import type { SignOutcome, TransferIntent } from './intent.ts'

/** The signer did not respond. It may have signed; repeating the request is safe. */
class SignerUnavailable extends Error {}

export type SignerClient = { sign(intent: TransferIntent): Promise<SignOutcome> }

const DEADLINE_MS = 10_000

/** One connection per request: requests are rare, and a restarted signer needs no reconnect. */
export function signerClient(path: string, clock: Pick<Clock, 'sleep'>): SignerClient {
  return {
    sign: async (intent) => {
      const line = await request(path, JSON.stringify(intent), clock)
      return JSON.parse(line) as SignOutcome
    },
  }
}

function request(path: string, question: string, clock: Pick<Clock, 'sleep'>): Promise<string> {
  const over = new AbortController()
  const response = new Promise<string>((resolve, reject) => {
    let buffered = ''
    const socket = connect(path, () => socket.write(`${question}\n`))
    const fail = (cause?: unknown) => {
      socket.destroy()
      reject(new SignerUnavailable('the signer does not respond', { cause }))
    }
    socket.setEncoding('utf8')
    socket.on('error', fail)
    socket.on('close', () => fail())
    socket.on('data', (text: string) => {
      buffered += text
      const end = buffered.indexOf('\n')
      if (end < 0) return
      resolve(buffered.slice(0, end))
      socket.destroy()
    })
    void clock.sleep(DEADLINE_MS, over.signal).then(() => fail())
  })
  return response.finally(() => over.abort())
}
