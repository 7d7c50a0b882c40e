/** A file of the repository: its path from the root, with slashes, and its text. */
export type SourceFile = { path: string; text: string }

/** A broken rule, its location, and how to fix it. */
export type Violation = { path: string; line: number; problem: string; fix: string }

export function formatViolation({ path, line, problem, fix }: Violation): string {
  return `${path}:${line}: ${problem}. ${fix}.`
}

const CODE = /\.(ts|tsx|js|mjs)$/
const TEST = /\.test\.tsx?$/

export const isCode = (path: string): boolean => CODE.test(path)
export const isTest = (path: string): boolean => TEST.test(path)
export const isWithin = (path: string, ...folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`${folder}/`))

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Spaces in place of a text, so that offsets and lines stay the same. */
export const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1
  }
  return line
}

/** One violation per match of the pattern, which must be global. */
export function findViolations(
  file: SourceFile,
  pattern: RegExp,
  about: { problem: string; fix: string; within?: string },
): Violation[] {
  const { problem, fix, within = file.text } = about
  return [...within.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: lineAt(within, match.index),
    problem,
    fix,
  }))
}
