import { examine, type Finding } from '#main/doctor.ts'
import { ConfigError, readSettings } from '#platform/config.ts'
import { exit_codes } from './exit_codes.ts'
import { progressLine } from './progress.ts'

/** A line for each thing that was looked at; where something is wrong, what to do about it. */
export async function doctor({ json }: { json?: boolean }): Promise<void> {
  const findings: Finding[] = []
  const progress = progressLine('Looking')
  for await (const finding of findingsIn(process.env)) {
    findings.push(finding)
    progress.end()
    if (!json) process.stdout.write(linesOf(finding))
    progress.tell('…')
  }
  progress.end()
  if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
  const isWell = findings.every(({ state }) => state !== 'wrong')
  process.exitCode = isWell ? exit_codes.ok : exit_codes.unexpected
}

async function* findingsIn(env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  try {
    yield* examine(readSettings(env))
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const cure = 'Set it right; docs/running.md lists the settings.'
    yield { name: 'settings', state: 'wrong', found: cause.message, cure }
  }
}

const MARKS = { ok: 'ok   ', note: '-    ', wrong: 'WRONG' } as const

function linesOf({ name, state, found, cure }: Finding): string {
  const line = `${MARKS[state]}  ${name.padEnd(12)}  ${found}\n`
  return cure === null ? line : `${line}       ${' '.repeat(12)}  → ${cure}\n`
}
