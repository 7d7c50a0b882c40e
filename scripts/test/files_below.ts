import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

/** The files of a folder of the repository, without installed packages. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return entry.name === 'node_modules' ? [] : filesBelow(path)
  })
}
