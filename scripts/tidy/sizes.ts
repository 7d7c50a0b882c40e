import { blankProse } from './blank.ts'
import { isCode, isTest, type SourceFile, type Violation } from './source.ts'

const FILE_LINES_MAX = 400
const TEST_FILE_LINES_MAX = 600
/** The aim is 50. A few more lines are better than a split with a bad name. */
const FUNCTION_LINES_AIM = 50
const FUNCTION_LINES_MAX = 60
const COLUMNS_MAX = 100
/** A word this long in a test is a URL, a frame or a signature, which cannot be wrapped. */
const UNBREAKABLE_LENGTH = 50

/** Tables may have any length. */
const TABLES = [/^src\/contract\//, /^src\/iso8583\/spec\w*\.ts$/]

/** The final newline does not start another line. */
const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')

export function fileSizeViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !TABLES.some((table) => table.test(path)))
    .flatMap(({ path, text }) => {
      const lines_max = isTest(path) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX
      const lines = linesOf(text).length
      if (lines <= lines_max) return []
      const fix = 'Split it into files with names of their own'
      return [{ path, line: lines_max, problem: `has ${lines} lines, over ${lines_max}`, fix }]
    })
}

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

const HEADERS = [
  /^\s*(?:export )?(?:async )?function\*? *(?<name>\w+)/,
  /^\s*(?:export )?(?:const|let) (?<name>\w+).*?= (?:async )?(?:function\b|\(|\w+ =>|<\w)/,
  // A method: a name and its parameters, with nothing before them but modifiers.
  /^\s+(?:(?:private|protected|static|override|async|get|set) )*\*?(?<name>#?\w+)(?:<.*>)?\(/,
]
/** Any other function: a callback or a member whose body opens at the end of the line. */
const OPENS_A_BODY = /(?:=>|\bfunction\b.*) \{$/
const NOT_A_METHOD = /^\s+(?:if|for|while|switch|catch|return|await|super|function|do|else)\b/

const indentOf = (line: string): number => line.length - line.trimStart().length

/**
 * Code is formatted, so a function ends at the first line with the same indent that closes a
 * bracket and opens none.
 */
function lastLineOf(lines: readonly string[], first: number): number {
  const indent = indentOf(lines[first] ?? '')
  for (let at = first + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line.trim() === '' || indentOf(line) > indent) continue
    const closes = /^\s*[)}\]>]/.test(line)
    if (!closes) return at - 1
    if (!/[{([]\s*$|=>\s*$/.test(line)) return at
  }
  return lines.length - 1
}

type MeasuredFunction = { name: string; first: number; last: number }

function functionAt(lines: readonly string[], first: number): MeasuredFunction | undefined {
  const line = lines[first] ?? ''
  if (NOT_A_METHOD.test(line)) return undefined
  const last = lastLineOf(lines, first)
  const [declared, arrow, method] = HEADERS.map((header) => header.exec(line)?.groups?.['name'])
  if (declared !== undefined) return { name: declared, first, last }
  const body = lines.slice(first, last + 1)
  if (arrow !== undefined && body.some((text) => /=>|\bfunction\b/.test(text))) {
    return { name: arrow, first, last }
  }
  // A multi-line call looks like a method until its parentheses close without a body.
  const indent = indentOf(line)
  const opening = body.find((text) => indentOf(text) === indent && /\{$/.test(text))
  const is_method = method !== undefined && opening !== undefined && !/=> \{$/.test(opening)
  if (is_method && !/\(\{$/.test(opening)) return { name: method, first, last }
  return OPENS_A_BODY.test(line) ? { name: 'a function', first, last } : undefined
}

export function functionLengthViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !isTest(path))
    .flatMap(({ path, text }) => {
      const lines = linesOf(blankProse(text))
      return lines.flatMap((_, index) => {
        const measured = functionAt(lines, index)
        if (measured === undefined) return []
        const length = measured.last - measured.first + 1
        if (length <= FUNCTION_LINES_MAX) return []
        const problem = `${measured.name} has ${length} lines, over ${FUNCTION_LINES_AIM}`
        const fix = 'Move a step of it into a function with its own name'
        return [{ path, line: index + 1, problem, fix }]
      })
    })
}
