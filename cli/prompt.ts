import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from './exit_codes.ts'

export async function ask(question: string, output: Writable = process.stderr): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

/** Asks on a terminal before something that cannot be undone. Scripts are not asked. */
export async function confirm(question: string, { yes = false } = {}): Promise<void> {
  if (yes || !process.stdin.isTTY || !process.stderr.isTTY) return
  const answer = await ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer)) throw new UsageError('Nothing was changed.')
}

/** Asks without echoing the input. */
export async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const answer = await ask('', nowhere)
  process.stderr.write('\n')
  return answer
}

/** Reads the first line of stdin, because other users can see secrets on a command line. */
export async function readStdinLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line.trim()
  return ''
}
