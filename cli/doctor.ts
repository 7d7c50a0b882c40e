import { diagnose, type Finding } from '#main/doctor.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'
import { exit_codes } from './exit_codes.ts'
import { startProgress } from './progress.ts'

/** Prints one line per check, and the fix below each failed one. */
export async function doctor({ json }: { json?: boolean }): Promise<void> {
  const findings: Finding[] = []
  let progress = startProgress('Checking')
  for await (const finding of runChecks(process.env)) {
    findings.push(finding)
    progress.end()
    if (!json) process.stdout.write(formatFinding(finding))
    progress = startProgress('Checking')
  }
  progress.end()
  if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
  const isHealthy = findings.every(({ state }) => state !== 'wrong')
  process.exitCode = isHealthy ? exit_codes.ok : exit_codes.unexpected
}

async function* runChecks(env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  try {
    yield* diagnose(readSettings(env))
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const cure = 'Correct it; docs/settings.md lists all settings.'
    yield { name: 'settings', state: 'wrong', found: cause.message, cure }
  }
}

const MARKS = { ok: 'ok   ', note: '-    ', wrong: 'WRONG' } as const

function formatFinding({ name, state, found, cure }: Finding): string {
  const line = `${MARKS[state]}  ${name.padEnd(12)}  ${found}\n`
  return cure === null ? line : `${line}       ${' '.repeat(12)}  → ${cure}\n`
}
