import { words } from './banned_words.ts'
import {
  blank,
  findViolations,
  isCode,
  isTest,
  isWithin,
  lineAt,
  nameOf,
  type SourceFile,
  type Violation,
} from './source.ts'

const GLOSSARY_PATH = 'ARCHITECTURE.md'

type GlossaryRow = { terms: string[]; synonyms: string[]; line: number }

/** "tx / `Tx`" is two terms. A third column that is only a list of words has synonyms. */
function glossaryRows(files: readonly SourceFile[]): GlossaryRow[] {
  const text = files.find(({ path }) => path === GLOSSARY_PATH)?.text ?? ''
  const section = /^## Glossary\n(?<table>.*?)(?=^## )/ms.exec(text)
  if (section === null) return []
  const rows = (section.groups?.['table'] ?? '').matchAll(
    /^\| (?!Word \|)(?<word>[^|]+?) \|[^|]+\| (?<not>[^|]+) \|$/gm,
  )
  return [...rows].map(({ 0: row, groups: { word = '', not = '' } = {} }) => ({
    terms: word.replaceAll('`', '').split(' / '),
    synonyms: /^[a-z]+(?:, [a-z]+)*$/.test(not) ? not.split(', ') : [],
    line: lineAt(text, section.index + section[0].indexOf(row)),
  }))
}

/** Every term of the glossary is used: as a word, or as part of a name in any case. */
export function glossaryViolations(files: readonly SourceFile[]): Violation[] {
  const code = files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, 'src'))
    .map(({ text }) => text)
  return glossaryRows(files)
    .flatMap(({ terms, line }) => terms.map((term) => ({ term, line })))
    .filter(({ term }) => {
      const pattern = new RegExp(term.split(' ').join('[ _]?'), 'i')
      return !code.some((text) => pattern.test(text))
    })
    .map(({ term, line }) => ({
      path: GLOSSARY_PATH,
      line,
      problem: `defines ${term}, which no file in src uses`,
      fix: 'Remove the entry, or use the term',
    }))
}

/** Synonyms that are also the right word for something else. */
const OTHER_USES: Readonly<Record<string, string>> = {
  alert: 'security emails, and rules of Prometheus',
  check: 'checks of authorizations and of requests',
  log: 'the audit log, and log lines',
  server: 'mail, database and MCP servers',
  service: 'Florin itself',
}

/** Names of libraries and other programs, and threads of the operating system. */
const FOREIGN_NAMES = new RegExp(
  [
    ...['FastifyInstance', 'InstanceType', 'instancePath', 'CimInstance', 'for instance'],
    ...['AssertionError', 'pg_dist_shard', 'for shard', 'job name'],
    ...['main thread', "the thread's", 'no thread'],
  ].join('|'),
  'g',
)

/** No synonym that the glossary excludes is used, on its own or in a name. */
export function synonymViolations(files: readonly SourceFile[]): Violation[] {
  const checked = files
    .filter(({ path }) => isWithin(path, 'src', 'panel', 'cli', 'client', 'docs'))
    .filter(({ path }) => isCode(path) || path.endsWith('.md'))
    .map(({ path, text }) => ({ path, text: text.replaceAll(FOREIGN_NAMES, blank) }))
  return glossaryRows(files).flatMap(({ terms, synonyms }) =>
    synonyms
      .filter((synonym) => OTHER_USES[synonym] === undefined)
      .flatMap((synonym) => {
        const pattern = words(`${synonym} ${synonym}s`)
        const problem = `uses ${synonym}, which the glossary excludes`
        const fix = `Write ${terms.join(' or ')}`
        return checked.flatMap((file) => findViolations(file, pattern, { problem, fix }))
      }),
  )
}

/** A path, or the name of a code file. Names such as `keys.json` are of files that readers have. */
const FILE_REFERENCE =
  /`([\w.-]+(?:\/[\w.-]+)+\.(?:tsx?|js|sql|md|json)|[\w.-]+\.(?:tsx?|sql))(?:`|:)/g
/** Files that readers of the docs have, not this repository. */
const FOREIGN_FILE = /^\./
/** The changelog names what was there; the others have examples for other repositories. */
const UNCHECKED_DOCUMENT = /^CHANGELOG\.md$|^(?:client|examples|bench|packaging)\//

/** Documents name files of this repository by their path or name, with or without src/. */
export function fileReferenceViolations(files: readonly SourceFile[]): Violation[] {
  const paths = new Set(files.flatMap(({ path }) => [path, nameOf(path)]))
  return files
    .filter(({ path }) => path.endsWith('.md') && !UNCHECKED_DOCUMENT.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(FILE_REFERENCE)].flatMap(({ 1: named = '', index }) => {
        const folder = path.slice(0, -nameOf(path).length)
        const exists = ['', 'src/', folder].some((above) => paths.has(`${above}${named}`))
        if (exists || FOREIGN_FILE.test(named)) return []
        const fix = 'Name the file that has this content now'
        return [{ path, line: lineAt(text, index), problem: `names the missing ${named}`, fix }]
      }),
    )
}
