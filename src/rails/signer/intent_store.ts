import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import type { SignedTransfer, TransferIntent } from './intent.ts'

/** One attempt that was signed. */
export type IntentRecord = SignedTransfer & {
  id: string
  chain: string
  attempt: number
  purpose: TransferIntent['purpose']
  substance: string
  amount: string
  signed_at_ms: number
}

/**
 * The signer's own memory, in a file that nobody else writes: a line for each attempt, on the disk
 * before the signature leaves the signer. So a signer that is killed at any moment knows afterwards
 * everything that it has ever given away.
 */
export type IntentStore = {
  attemptsAt(id: string): readonly IntentRecord[]
  all(): Iterable<IntentRecord>
  add(record: IntentRecord): void
  close(): void
}

export function openIntentStore(path: string): IntentStore {
  const records = new Map<string, IntentRecord[]>()
  const remember = (record: IntentRecord): void => {
    const attempts = records.get(record.id)
    if (attempts === undefined) records.set(record.id, [record])
    else attempts.push(record)
  }
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // What follows the last line end was cut off by a crash, before its signature reached anybody.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) truncateSync(path, Buffer.byteLength(whole))
  for (const line of whole.split('\n').filter((one) => one !== '')) {
    remember(JSON.parse(line) as IntentRecord)
  }
  const file = openSync(path, 'a', 0o600)
  return {
    attemptsAt: (id) => records.get(id) ?? [],
    all: () => [...records.values()].flat(),
    add: (record) => {
      writeSync(file, `${JSON.stringify(record)}\n`)
      fsyncSync(file)
      remember(record)
    },
    close: () => closeSync(file),
  }
}
