import type { Settings } from '#settings/settings.ts'
import { type Finding, runCheck } from './doctor/check.ts'
import { databaseChecks, type OpenBooks, openBooks } from './doctor/database_checks.ts'
import { linkChecks } from './doctor/link_checks.ts'
import { machineChecks } from './doctor/machine_checks.ts'

export type { Finding }

/** Checks everything the service depends on, one after another, and changes nothing. */
export async function* diagnose(settings: Settings): AsyncGenerator<Finding> {
  const { mode, public_url } = settings
  yield { name: 'settings', state: 'ok', found: `${mode} mode, ${public_url}`, cure: null }
  let opened: Promise<OpenBooks | null> | undefined
  const open = () => {
    opened ??= openBooks(settings)
    return opened
  }
  try {
    const checks = [
      ...machineChecks(settings),
      ...databaseChecks(open, mode),
      ...linkChecks(settings),
    ]
    for (const check of checks) yield await runCheck(check)
  } finally {
    const books = await opened?.catch(() => null)
    await books?.close()
  }
}
