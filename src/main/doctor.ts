import type { Settings } from '#settings/settings.ts'
import { type Finding, findingOf } from './doctor/check.ts'
import { databaseChecks, type OpenBooks, openBooks } from './doctor/database_checks.ts'
import { linkChecks } from './doctor/link_checks.ts'
import { machineChecks } from './doctor/machine_checks.ts'

export type { Finding }

/** Looks at all that the service stands on, one after the other, and changes nothing. */
export async function* examine(settings: Settings): AsyncGenerator<Finding> {
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
    for (const check of checks) yield await findingOf(check)
  } finally {
    const books = await opened?.catch(() => null)
    await books?.close()
  }
}
