import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

export async function ask(question: string, output: Writable = process.stderr): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

/** What is typed is not shown. */
export async function askSecretly(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const answer = await ask('', nowhere)
  process.stderr.write('\n')
  return answer
}

/** The first line of standard input: secrets do not belong on a command line. */
export async function lineFromInput(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line.trim()
  return ''
}
