import { isCode, isTest, isWithin, lineAt, type SourceFile, type Violation } from './source.ts'

const GLOSSARY_PATH = 'ARCHITECTURE.md'

/** The first column of the glossary table, without backticks; "tx / `Tx`" is two terms. */
export function glossaryTerms(files: readonly SourceFile[]): { term: string; line: number }[] {
  const text = files.find(({ path }) => path === GLOSSARY_PATH)?.text ?? ''
  const section = /^## Glossary\n(?<table>.*?)(?=^## )/ms.exec(text)
  if (section === null) return []
  const rows = (section.groups?.['table'] ?? '').matchAll(/^\| (?!Word \|)([^|]+?) \|/gm)
  return [...rows].flatMap(({ 1: cell = '', index }) =>
    cell.split(' / ').map((term) => ({
      term: term.replaceAll('`', ''),
      line: lineAt(text, section.index + section[0].indexOf(cell, index)),
    })),
  )
}

/** Every term of the glossary is used: as a word, or as part of a name in any case. */
export function glossaryViolations(files: readonly SourceFile[]): Violation[] {
  const code = files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, 'src'))
    .map(({ text }) => text)
  return glossaryTerms(files)
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

const FILE_REFERENCE = /`([\w.-]+(?:\/[\w.-]+)+\.(?:tsx?|js|sql|md|json))(?:`|:)/g
/** Files that readers of the docs have, not this repository. */
const FOREIGN_FILE = /^\./

/** Documents name files of this repository by their path, with or without src/. */
export function fileReferenceViolations(files: readonly SourceFile[]): Violation[] {
  const paths = new Set(files.map(({ path }) => path))
  return files
    .filter(({ path }) => path.endsWith('.md') && (isWithin(path, 'docs') || !path.includes('/')))
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(FILE_REFERENCE)].flatMap(({ 1: named = '', index }) => {
        const exists = paths.has(named) || paths.has(`src/${named}`)
        if (exists || FOREIGN_FILE.test(named)) return []
        const fix = 'Name the file that has this content now'
        return [{ path, line: lineAt(text, index), problem: `names the missing ${named}`, fix }]
      }),
    )
}
