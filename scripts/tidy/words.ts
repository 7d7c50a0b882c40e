import { withoutProse } from './blank.ts'
import { modulesOf } from './imports.ts'
import {
  type Complaint,
  complaintsWhere,
  isCode,
  isTest,
  isWithin,
  lineAt,
  type SourceFile,
} from './source.ts'

type Ban = { pattern: RegExp; what: string; cure: string }

const LEFTOVERS: Ban = {
  pattern: /\b(?:TODO|FIXME|HACK)\b/g,
  what: 'leaves work for later',
  cure: 'Do it now, or write it down outside the code',
}

/** XXX is also a currency (ISO 4217: none), so in a string it is data. */
const MARKS: Ban = { ...LEFTOVERS, pattern: /\bXXX\b/g }

const ANY: Ban = {
  pattern: /:\s*any\b|\bas any\b|<any\b|,\s*any\s*>|(?<!\|)\|\s*any\b/g,
  what: 'says any',
  cure: 'Name the type, or take unknown and look',
}

const PRINTING: Ban = {
  pattern: /\bconsole\.log\b/g,
  what: 'prints to the console',
  cure: 'Log through platform/log.ts',
}

/** Time, chance and environment come in through platform, so that a test can hold them still. */
const SEAMS: readonly Ban[] = [
  { pattern: /\bDate\.now\s*\(/g, what: 'reads the clock', cure: 'Take now from the context' },
  { pattern: /\bnew Date\(\s*\)/g, what: 'reads the clock', cure: 'Take now from the context' },
  { pattern: /\bnew Date\b(?!\s*\()/g, what: 'reads the clock', cure: 'Take now from the context' },
  {
    pattern: /\bMath\.random\s*\(/g,
    what: 'rolls its own dice',
    cure: 'Take random bytes as a parameter',
  },
  {
    pattern: /\bcrypto\.(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/g,
    what: 'rolls its own dice',
    cure: 'Take random bytes as a parameter',
  },
  {
    pattern: /\bset(?:Timeout|Interval)\b/g,
    what: 'sets a timer',
    cure: "Use the clock's timers of platform, or write a row that is due",
  },
  {
    pattern: /\bprocess\.env\b/g,
    what: 'reads the environment',
    cure: 'Take the setting from platform/config.ts as a parameter',
  },
]

function banned(file: SourceFile, bans: readonly Ban[], within: string): Complaint[] {
  return bans.flatMap(({ pattern, what, cure }) =>
    complaintsWhere(file, pattern, { what, cure, within }),
  )
}

export function wordComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(
      ({ path }) => isCode(path) && isWithin(path, 'src', 'client', 'cli', 'panel', 'sandbox'),
    )
    .flatMap((file) => {
      const code = withoutProse(file.text)
      return [
        ...banned(file, [LEFTOVERS], file.text),
        ...banned(file, [MARKS], withoutProse(file.text, ['strings'])),
        ...banned(file, isWithin(file.path, 'src') ? [ANY, PRINTING] : [ANY], code),
      ]
    })
}

const DICE = /\{[^}]*\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b[^}]*\}\s*from\s*$/

/** `randomBytes` is a fine name for a parameter; only Node's own is a seam. */
function importedDice(file: SourceFile, code: string): Complaint[] {
  return modulesOf(file).flatMap(({ specifier, line }) => {
    if (specifier !== 'node:crypto' && specifier !== 'crypto') return []
    const before = code
      .split('\n')
      .slice(0, line)
      .join('\n')
      .replace(/['"][^'"]*['"]\s*$/, '')
    const found = DICE.exec(before)
    if (found === null) return []
    const cure = 'Take random bytes as a parameter'
    return [{ path: file.path, line: lineAt(code, found.index), what: 'rolls its own dice', cure }]
  })
}

export function seamComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, 'src'))
    .filter(({ path }) => !isWithin(path, 'src/platform', 'src/main'))
    .flatMap((file) => {
      const code = withoutProse(file.text)
      return [...banned(file, SEAMS, code), ...importedDice(file, code)]
    })
}

const SLEEPING_TEST =
  /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\b|\{\s*(?:skip|only|todo): true/g

export function skipComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) =>
      complaintsWhere(file, SLEEPING_TEST, {
        what: 'leaves tests out of the run',
        cure: 'Let it run, or delete it with the guarantee it stated',
        within: withoutProse(file.text),
      }),
    )
}
