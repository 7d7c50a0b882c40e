import { counted, type Tally } from './summary.ts'
import type { TestResult } from './worker_messages.ts'

/** The output of one file, printed when it has ended: two files run at the same time. */
export type FileOutput = {
  file: string
  lines: string[]
  failures: string[]
  /** How many of the failures are only responses that came too late. */
  late: number
  tests: number
}

export const newOutput = (file: string): FileOutput => ({
  file,
  lines: [],
  failures: [],
  late: 0,
  tests: 0,
})

const SYMBOLS = { pass: '✔', fail: '✖', skip: '﹣' } as const
const indent = (depth: number) => '  '.repeat(depth)
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

export function addResult(output: FileOutput, result: TestResult): void {
  const { outcome, name, nesting, ms, text } = result
  const reason = outcome === 'skip' ? ` # ${text}` : ''
  output.tests += 1
  output.lines.push(`${indent(nesting)}${SYMBOLS[outcome]} ${name} (${ms.toFixed(0)} ms)${reason}`)
  if (outcome === 'fail') addFailure(output, name, text)
  if (result.is_late === true) output.late += 1
}

export function addFailure(output: FileOutput, name: string, text: string): void {
  output.failures.push(`✖ ${output.file}: ${name}\n${text.replace(/^/gm, '  ')}`)
}

export const addNote = (output: FileOutput, nesting: number, message: string): void =>
  void output.lines.push(`${indent(nesting)}ℹ ${message}`)

export type PrinterOptions = {
  /** Prints every test and its figures, not only the files. */
  verbose: boolean
  stdout?: { isTTY?: boolean; write(text: string): unknown }
}

export type Printer = {
  fileEnded(output: FileOutput, ms: number): void
  /** A failed attempt that does not count, with the share of the CPU time that the host took. */
  attemptEnded(output: FileOutput, stolen: number): void
  end(): void
}

const PROGRESS_MS = 10_000

/**
 * Prints a file's line when it has ended, with all its tests where asked, and its failures in full.
 * Between them a progress line: always on a terminal, now and then elsewhere.
 */
export function makePrinter(
  tally: Tally,
  total: number,
  { verbose, stdout = process.stdout }: PrinterOptions,
): Printer {
  const began = performance.now()
  const print = (line: string) => void stdout.write(`${line}\n`)
  let ended = 0
  let printed_ms = began

  const progress = () =>
    `${ended} of ${counted(total, 'file')}, ${counted(tally.pass, 'test')} passed, ` +
    `${tally.fail} failed, ${minutes(performance.now() - began)}`
  const eraseProgress = () => void (stdout.isTTY === true && stdout.write('\r\x1b[K'))
  const showProgress = () => {
    if (total === 1) return
    if (stdout.isTTY === true) return void stdout.write(progress())
    if (performance.now() - printed_ms < PROGRESS_MS) return
    printed_ms = performance.now()
    print(`… ${progress()}`)
  }
  const timer = setInterval(() => {
    eraseProgress()
    showProgress()
  }, 1_000)

  return {
    fileEnded: (output, ms) => {
      ended += 1
      eraseProgress()
      const symbol = output.failures.length === 0 ? SYMBOLS.pass : SYMBOLS.fail
      print(`${symbol} ${output.file}  ${counted(output.tests, 'test')}, ${seconds(ms)}`)
      if (verbose) for (const line of output.lines) print(line)
      for (const failure of output.failures) print(`\n${failure}\n`)
      showProgress()
    },
    attemptEnded: ({ file, failures }, stolen) => {
      eraseProgress()
      const share = `${Math.round(stolen * 100)} %`
      print(`↻ ${file} does not count: the host took up to ${share} of the CPU time`)
      for (const failure of failures) print(`\n${failure.replace(SYMBOLS.fail, '↻')}\n`)
      showProgress()
    },
    end: () => {
      clearInterval(timer)
      eraseProgress()
    },
  }
}

function minutes(ms: number): string {
  const whole = Math.round(ms / 1_000)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
