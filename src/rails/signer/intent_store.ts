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
 * The signer's own memory: a line for each attempt, on the disk before the signature leaves the
 * signer. The lines are chained by a MAC whose key only the signer has, and a high-water mark in
 * another file says how many there are, so a shortened, edited or swapped record is noticed.
 */
export type IntentStore = {
  attemptsAt(id: string): readonly IntentRecord[]
  all(): Iterable<IntentRecord>
  add(record: IntentRecord): void
  /** False once a write has failed: nothing is signed that might not be remembered. */
  isSound(): boolean
  close(): void
}

export type RecordFiles = {
  path: string
  mark_path: string
  key: Uint8Array
  /** Allows a start without a high-water mark, which is then made. */
  create: boolean
}

/** The record is not what the signer has left; it does not start with it. */
export class RecordRefused extends Error {}

type Line = { hash: string; record: IntentRecord }
type Mark = { count: number; hash: string }

export function openIntentStore(files: RecordFiles): IntentStore {
  const lines = verifiedLines(files)
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
      const line = chained(files.key, mark.hash, record)
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

function chained(key: Uint8Array, before: string, record: IntentRecord): Line {
  const content = `${before}\n${JSON.stringify(record)}`
  return { hash: createHmac('sha256', key).update(content).digest('hex'), record }
}

function verifiedLines({ path, mark_path, key, create }: RecordFiles): Line[] {
  const mark = readMark(mark_path)
  if (mark === null && !create) {
    throw new RecordRefused(
      `The high-water mark ${mark_path} is missing. Restore it, or start the signer once with ` +
        '--new-record if it has never run here.',
    )
  }
  const found = readLines(path)
  const isUnchained = found.some((line) => line.hash === undefined)
  if (isUnchained && mark !== null) throw new RecordRefused(`${path} has lines without a hash.`)
  const lines: Line[] = []
  for (const { hash, record } of found) {
    const line = chained(key, lines.at(-1)?.hash ?? '', record)
    if (!isUnchained && line.hash !== hash) {
      throw new RecordRefused(`Line ${lines.length + 1} of ${path} was not written by this signer.`)
    }
    lines.push(line)
  }
  if (mark !== null && (mark.count > 0 ? lines[mark.count - 1]?.hash : '') !== mark.hash) {
    throw new RecordRefused(
      `${path} is not the record that ${mark_path} knows: ${lines.length} of at least ` +
        `${mark.count} signed transfers are there. Restore it before the signer starts.`,
    )
  }
  // A record from before lines were chained is taken over once.
  if (isUnchained) replaceFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return lines
}

function readLines(path: string): { hash?: string; record: IntentRecord }[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // What follows the last line end was cut off by a crash, before its signature reached anybody.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) truncateSync(path, Buffer.byteLength(whole))
  return whole
    .split('\n')
    .filter((one) => one !== '')
    .map((one, at) => lineOf(one, `${path}, line ${at + 1}`))
}

function lineOf(text: string, place: string): { hash?: string; record: IntentRecord } {
  try {
    const value = JSON.parse(text) as Line | IntentRecord
    return 'record' in value ? value : { record: value }
  } catch (cause) {
    throw new RecordRefused(`${place} cannot be read.`, { cause })
  }
}

function readMark(path: string): Mark | null {
  if (!existsSync(path)) return null
  try {
    const { count, hash } = JSON.parse(readFileSync(path, 'utf8')) as Mark
    if (Number.isSafeInteger(count) && count >= 0 && typeof hash === 'string')
      return { count, hash }
  } catch (cause) {
    throw new RecordRefused(`The high-water mark ${path} cannot be read.`, { cause })
  }
  throw new RecordRefused(`The high-water mark ${path} is not one.`)
}

function writeMark(path: string, mark: Mark): void {
  mkdirSync(dirname(path), { recursive: true })
  replaceFile(path, `${JSON.stringify(mark)}\n`)
}

/** In one step: whoever reads it finds the old content or the new. */
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

/** A line that could not be written whole is taken back, or the next one would continue it. */
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
