import { createHmac } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { SignedTransfer, TransferIntent } from './intent.ts'

/** A signed attempt. */
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
 * The signer's own record: one line per attempt, fsynced before the signature leaves the signer.
 * The lines are chained by a MAC whose key only the signer has, and another file has a high-water
 * mark with their number, so a truncated, edited or replaced record is detected.
 */
export type IntentStore = {
  attemptsAt(id: string): readonly IntentRecord[]
  all(): Iterable<IntentRecord>
  add(record: IntentRecord): void
  /** False after a failed write: nothing is signed that might not be recorded. */
  isSound(): boolean
  close(): void
}

export type RecordFiles = {
  path: string
  mark_path: string
  key: Uint8Array
  /** Creates a missing high-water mark instead of refusing to start. */
  create: boolean
}

/** The record was changed since the signer wrote it; the signer refuses to start. */
export class InvalidRecord extends Error {}

type Line = { hash: string; record: IntentRecord }
type Mark = { count: number; hash: string }

export function openIntentStore(files: RecordFiles): IntentStore {
  const lines = verifyRecord(files)
  const records = new Map<string, IntentRecord[]>()
  const remember = (record: IntentRecord): void => {
    const attempts = records.get(record.id)
    if (attempts === undefined) records.set(record.id, [record])
    else attempts.push(record)
  }
  for (const { record } of lines) remember(record)
  let mark: Mark = { count: lines.length, hash: lines.at(-1)?.hash ?? '' }
  writeMark(files.mark_path, mark)
  const file = openSync(files.path, 'a', 0o600)
  let isSound = true
  return {
    attemptsAt: (id) => records.get(id) ?? [],
    all: () => [...records.values()].flat(),
    add: (record) => {
      const line = chainLine(files.key, mark.hash, record)
      try {
        append(file, `${JSON.stringify(line)}\n`)
        mark = { count: mark.count + 1, hash: line.hash }
        writeMark(files.mark_path, mark)
      } catch (cause) {
        isSound = false
        throw cause
      }
      remember(record)
    },
    isSound: () => isSound,
    close: () => closeSync(file),
  }
}

function chainLine(key: Uint8Array, before: string, record: IntentRecord): Line {
  const content = `${before}\n${JSON.stringify(record)}`
  return { hash: createHmac('sha256', key).update(content).digest('hex'), record }
}

function verifyRecord({ path, mark_path, key, create }: RecordFiles): Line[] {
  const mark = readMark(mark_path)
  if (mark === null && !create) {
    throw new InvalidRecord(
      `The high-water mark ${mark_path} is missing. Restore it, or start the signer once with ` +
        '--new-record if it has never run here.',
    )
  }
  const found = readLines(path)
  const isUnchained = found.some((line) => line.hash === undefined)
  if (isUnchained && mark !== null) throw new InvalidRecord(`${path} has lines without a hash.`)
  const lines: Line[] = []
  for (const { hash, record } of found) {
    const line = chainLine(key, lines.at(-1)?.hash ?? '', record)
    if (!isUnchained && line.hash !== hash) {
      throw new InvalidRecord(`Line ${lines.length + 1} of ${path} was not written by this signer.`)
    }
    lines.push(line)
  }
  if (mark !== null && (mark.count > 0 ? lines[mark.count - 1]?.hash : '') !== mark.hash) {
    throw new InvalidRecord(
      `${path} is not the record that ${mark_path} knows: ${lines.length} of at least ` +
        `${mark.count} signed transfers are there. Restore it before the signer starts.`,
    )
  }
  // Migrates a record from before lines were chained.
  if (isUnchained) replaceFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return lines
}

function readLines(path: string): { hash?: string; record: IntentRecord }[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A crash may leave an incomplete last line, whose signature has not left the signer.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  if (complete !== text) truncateSync(path, Buffer.byteLength(complete))
  return complete
    .split('\n')
    .filter((one) => one !== '')
    .map((one, at) => parseLine(one, `${path}, line ${at + 1}`))
}

function parseLine(text: string, place: string): { hash?: string; record: IntentRecord } {
  try {
    const value = JSON.parse(text) as Line | IntentRecord
    return 'record' in value ? value : { record: value }
  } catch (cause) {
    throw new InvalidRecord(`${place} cannot be read.`, { cause })
  }
}

function readMark(path: string): Mark | null {
  if (!existsSync(path)) return null
  try {
    const { count, hash } = JSON.parse(readFileSync(path, 'utf8')) as Mark
    if (Number.isSafeInteger(count) && count >= 0 && typeof hash === 'string')
      return { count, hash }
  } catch (cause) {
    throw new InvalidRecord(`The high-water mark ${path} cannot be read.`, { cause })
  }
  throw new InvalidRecord(`The high-water mark ${path} is not one.`)
}

function writeMark(path: string, mark: Mark): void {
  mkdirSync(dirname(path), { recursive: true })
  replaceFile(path, `${JSON.stringify(mark)}\n`)
}

/** Atomic: a reader sees the old content or the new. */
function replaceFile(path: string, text: string): void {
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}

/** Removes a partly written line, so the next one does not continue it. */
function append(file: number, line: string): void {
  const { size } = fstatSync(file)
  try {
    const written = writeSync(file, line)
    if (written !== Buffer.byteLength(line)) throw new Error('the line was written in part')
    fsyncSync(file)
  } catch (cause) {
    ftruncateSync(file, size)
    throw cause
  }
}
