import { blankProse } from './blank.ts'
import { modulesOf } from './imports.ts'
import {
  findViolations,
  isCode,
  isTest,
  isWithin,
  lineAt,
  type SourceFile,
  type Violation,
} from './source.ts'

type Ban = { pattern: RegExp; problem: string; fix: string }

const MARKERS: Ban = {
  pattern: /\b(?:TODO|FIXME|HACK)\b/g,
  problem: 'contains a TODO marker',
  fix: 'Do it now, or track it outside the code',
}

/** XXX is also a currency code (ISO 4217), so strings may contain it. */
const COMMENT_MARKERS: Ban = { ...MARKERS, pattern: /\bXXX\b/g }

const ANY: Ban = {
  pattern: /:\s*any\b|\bas any\b|<any\b|,\s*any\s*>|(?<!\|)\|\s*any\b/g,
  problem: 'uses any',
  fix: 'Name the type, or use unknown and narrow it',
}

const PRINTING: Ban = {
  pattern: /\bconsole\.log\b/g,
  problem: 'prints to the console',
  fix: 'Log through platform/runtime/log.ts',
}

/** Time, randomness and environment come through platform, so that tests can control them. */
const GLOBALS: readonly Ban[] = [
  { pattern: /\bDate\.now\s*\(/g, problem: 'reads the clock', fix: 'Take now from the context' },
  { pattern: /\bnew Date\(\s*\)/g, problem: 'reads the clock', fix: 'Take now from the context' },
  {
    pattern: /\bnew Date\b(?!\s*\()/g,
    problem: 'reads the clock',
    fix: 'Take now from the context',
  },
  {
    pattern: /\bMath\.random\s*\(/g,
    problem: 'generates random values',
    fix: 'Take random bytes as a parameter',
  },
  {
    pattern: /\bcrypto\.(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/g,
    problem: 'generates random values',
    fix: 'Take random bytes as a parameter',
  },
  {
    pattern: /\bset(?:Timeout|Interval)\b/g,
    problem: 'sets a timer',
    fix: "Use the clock's timers in platform, or store a due row",
  },
  {
    pattern: /\bprocess\.env\b/g,
    problem: 'reads the environment',
    fix: 'Take the setting from settings/settings.ts as a parameter',
  },
]

function banned(file: SourceFile, bans: readonly Ban[], within: string): Violation[] {
  return bans.flatMap(({ pattern, problem, fix }) =>
    findViolations(file, pattern, { problem, fix, within }),
  )
}

export function markerViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(
      ({ path }) => isCode(path) && isWithin(path, 'src', 'client', 'cli', 'panel', 'sandbox'),
    )
    .flatMap((file) => {
      const code = blankProse(file.text)
      return [
        ...banned(file, [MARKERS], file.text),
        ...banned(file, [COMMENT_MARKERS], blankProse(file.text, ['strings'])),
        ...banned(file, isWithin(file.path, 'src') ? [ANY, PRINTING] : [ANY], code),
      ]
    })
}

const RANDOM_IMPORT =
  /\{[^}]*\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b[^}]*\}\s*from\s*$/

/** `randomBytes` may be a parameter; only Node's own function is banned. */
function randomImports(file: SourceFile, code: string): Violation[] {
  return modulesOf(file).flatMap(({ specifier, line }) => {
    if (specifier !== 'node:crypto' && specifier !== 'crypto') return []
    const before = code
      .split('\n')
      .slice(0, line)
      .join('\n')
      .replace(/['"][^'"]*['"]\s*$/, '')
    const found = RANDOM_IMPORT.exec(before)
    if (found === null) return []
    const fix = 'Take random bytes as a parameter'
    return [
      { path: file.path, line: lineAt(code, found.index), problem: 'generates random values', fix },
    ]
  })
}

export function globalViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, 'src'))
    .filter(({ path }) => !isWithin(path, 'src/platform', 'src/main'))
    .flatMap((file) => {
      const code = blankProse(file.text)
      return [...banned(file, GLOBALS, code), ...randomImports(file, code)]
    })
}

const SKIPPED_TEST =
  /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\b|\{\s*(?:skip|only|todo): true/g

export function skippedTestViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) =>
      findViolations(file, SKIPPED_TEST, {
        problem: 'skips tests',
        fix: 'Enable the test, or delete it with its guarantee',
        within: blankProse(file.text),
      }),
    )
}
