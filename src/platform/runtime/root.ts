import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The package's folder. Code runs from dist/ below it; migrations, docs and the like are in it. */
export const root = folderAbove(import.meta.dirname)

function folderAbove(folder: string): string {
  if (existsSync(join(folder, 'migrations'))) return folder
  return folderAbove(dirname(folder))
}
