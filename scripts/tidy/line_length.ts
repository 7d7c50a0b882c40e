import { isCode, isTest, type SourceFile, type Violation } from './source.ts'

const COLUMNS_MAX = 100
/** A word this long in a test is a URL, a frame or a signature, which cannot be wrapped. */
const UNBREAKABLE_LENGTH = 50

/** The final newline does not start another line. */
const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')

const TITLE = /^\s*(?:await )?(?:\w+\.)?(?:test|it|describe)\(/

/** Long data and test names, which cannot be wrapped. */
function isUnbreakable(path: string, line: string): boolean {
  const isData = line.split(/\s+/).some((word) => word.length >= UNBREAKABLE_LENGTH)
  return isTest(path) && (isData || TITLE.test(line))
}

/** In TSX, strings are ignored: the formatter does not wrap lists of class names. */
const measuredPart = (path: string, line: string): string =>
  path.endsWith('.tsx') ? line.replaceAll(/(["'])[^"']*\1/g, '') : line

export function lineLengthViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) || path.endsWith('.sql'))
    .flatMap(({ path, text }) =>
      linesOf(text).flatMap((line, index) => {
        const columns = [...measuredPart(path, line)].length
        if (columns <= COLUMNS_MAX || isUnbreakable(path, line)) return []
        const problem = `is ${columns} columns wide, over ${COLUMNS_MAX}`
        return [{ path, line: index + 1, problem, fix: 'Break the line, or name a part of it' }]
      }),
    )
}
