import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlantedBug } from '#test/planted/planted_bug.ts'

/** The edit no longer fits the sources: correct its text in test/planted/. */
export class NotApplied extends Error {}

/** The edited text of a file. */
export function editedText(text: string, { file, find, replace }: PlantedBug): string {
  const count = text.split(find).length - 1
  if (count !== 1) throw new NotApplied(`the text to replace occurs ${count} times in ${file}`)
  if (find === replace) throw new NotApplied('the replacement equals the text')
  // A function, because a replacement string may contain $ signs.
  return text.replace(find, () => replace)
}

function readTarget(folder: string, bug: PlantedBug): string {
  for (const path of [bug.file, ...bug.tests]) {
    if (!existsSync(join(folder, path))) throw new NotApplied(`there is no file ${path}`)
  }
  return readFileSync(join(folder, bug.file), 'utf8')
}

/**
 * Applies an edit in a tree and returns the function that restores the file. Its times are restored
 * too, so that the build finds nothing to do.
 */
export function applyEdit(folder: string, bug: PlantedBug): () => void {
  const text = readTarget(folder, bug)
  const path = join(folder, bug.file)
  const { atime, mtime } = statSync(path)
  writeFileSync(path, editedText(text, bug))
  return () => {
    writeFileSync(path, text)
    utimesSync(path, atime, mtime)
  }
}

/** The edits that do not fit the sources of a tree; nothing is written. */
export function unfitEdits(folder: string, bugs: readonly PlantedBug[]): string[] {
  return bugs.flatMap((bug) => {
    try {
      editedText(readTarget(folder, bug), bug)
      return []
    } catch (cause) {
      if (!(cause instanceof NotApplied)) throw cause
      return [`${bug.name}: ${cause.message}`]
    }
  })
}
