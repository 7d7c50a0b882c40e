import { settingsOfCell } from '#settings/cell_settings.ts'
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
  for (const check of machineChecks(settings)) yield await runCheck(check)
  yield* diagnoseDatabase(settings)
  for (const database of settings.more_cells) {
    for await (const finding of diagnoseDatabase(settingsOfCell(settings, database))) {
      yield { ...finding, name: `cell ${database.number}: ${finding.name}` }
    }
  }
  for (const check of linkChecks(settings)) yield await runCheck(check)
}

async function* diagnoseDatabase(settings: Settings): AsyncGenerator<Finding> {
  let opened: Promise<OpenBooks | null> | undefined
  const open = () => {
    opened ??= openBooks(settings)
    return opened
  }
  try {
    for (const check of databaseChecks(open, settings.mode)) yield await runCheck(check)
  } finally {
    const books = await opened?.catch(() => null)
    await books?.close()
  }
}
