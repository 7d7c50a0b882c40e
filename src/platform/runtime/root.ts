import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The package's own folder. What runs is built into dist/ below it, what is read lies in it. */
export const root = folderAbove(import.meta.dirname)

function folderAbove(folder: string): string {
  if (existsSync(join(folder, 'migrations'))) return folder
  return folderAbove(dirname(folder))
}
