/** A file of the tree as the checks see it: its path from the root, with slashes, and its text. */
export type SourceFile = { path: string; text: string }

/** What is wrong, where, and what to do about it: a complaint without a cure is only a mood. */
export type Complaint = { path: string; line: number; what: string; cure: string }

export function sentence({ path, line, what, cure }: Complaint): string {
  return `${path}:${line}: ${what}. ${cure}.`
}

const CODE = /\.(ts|tsx|js|mjs)$/
const TEST = /\.test\.tsx?$/

export const isCode = (path: string): boolean => CODE.test(path)
export const isTest = (path: string): boolean => TEST.test(path)
export const isWithin = (path: string, ...folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`${folder}/`))

export const folderOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1
  }
  return line
}

/** One complaint for each place where the pattern, which must be global, is found. */
export function complaintsWhere(
  file: SourceFile,
  pattern: RegExp,
  about: { what: string; cure: string; within?: string },
): Complaint[] {
  const { what, cure, within = file.text } = about
  return [...within.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: lineAt(within, match.index),
    what,
    cure,
  }))
}
