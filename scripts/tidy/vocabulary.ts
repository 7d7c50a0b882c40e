import { type BannedWord, banned_words, type Part } from './banned_words.ts'
import { onlyPart } from './blank.ts'
import { blank, isCode, isWithin, lineAt, type SourceFile, type Violation } from './source.ts'

const FOLDERS = [
  'src',
  'panel',
  'cli',
  'client',
  'sandbox',
  'scripts',
  'examples',
  'docs',
  'migrations',
] as const
const GUIDES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']

/** The list of banned words contains them, and the changelog names what was renamed. */
export const isInVocabulary = ({ path }: SourceFile): boolean =>
  (isWithin(path, ...FOLDERS) && !isWithin(path, 'scripts/tidy')) || GUIDES.includes(path)

const SQL_COMMENT = /--.*$/gm
/** A line up to its comment. */
const SQL_CODE = /^(?:(?!--).)+/gm

function partsOf({ path, text }: SourceFile): [Part, string][] {
  if (path.endsWith('.md')) return [['docs', text]]
  if (path.endsWith('.sql')) {
    return [
      ['code', text.replaceAll(SQL_COMMENT, blank)],
      ['comments', text.replaceAll(SQL_CODE, blank)],
    ]
  }
  if (!isCode(path)) return []
  return (['code', 'comments', 'strings'] as const).map((part) => [part, onlyPart(text, part)])
}

export function bannedWordViolations(
  files: readonly SourceFile[],
  isChecked = isInVocabulary,
): Violation[] {
  return files.filter(isChecked).flatMap((file) =>
    partsOf(file).flatMap(([part, text]) =>
      banned_words
        .filter(({ within }) => within.includes(part))
        .flatMap((ban) =>
          usesOf(ban, text).map(({ index, 0: use }) => ({
            path: file.path,
            line: lineAt(text, index),
            problem: `uses "${use}"`,
            fix: `Write ${ban.use}`,
          })),
        ),
    ),
  )
}

function usesOf({ pattern, allowed = [] }: BannedWord, text: string): RegExpExecArray[] {
  const checked = allowed.reduce((rest, use) => rest.replaceAll(use.pattern, blank), text)
  return [...checked.matchAll(pattern)]
}

type Sentence = { text: string; index: number }

const HEADLESS = /^(?:what|whatever|whoever|whether|where|who|which)\b/i

/** A comment, heading or test name names its subject instead of beginning with a clause. */
export function headlessViolations(
  files: readonly SourceFile[],
  isChecked = isInVocabulary,
): Violation[] {
  return files.filter(isChecked).flatMap((file) =>
    sentencesOf(file)
      .filter(({ text }) => HEADLESS.test(text) && !text.endsWith('?'))
      .map(({ text, index }) => ({
        path: file.path,
        line: lineAt(file.text, index),
        problem: `begins with a clause ("${text.slice(0, 30).replace(/\s+/g, ' ')}…")`,
        fix: 'Name the subject',
      })),
  )
}

function sentencesOf(file: SourceFile): Sentence[] {
  if (file.path.endsWith('.md')) return matchesOf(file.text, /(?<=^#+ ).+$/gm)
  if (!isCode(file.path)) return []
  const test_names = matchesOf(file.text, /(?<=\btest\(\s*['"`])[^'"`]+/g)
  return [...commentSentences(file.text), ...test_names]
}

function commentSentences(text: string): Sentence[] {
  const comments = onlyPart(text, 'comments').matchAll(/\/\*.*?\*\/|(?:\/\/[^\n]*(?:\n\s*|$))+/gs)
  return [...comments].flatMap(({ 0: comment, index }) => {
    const words = comment.replaceAll(/\/\*+|\*+\/|^\s*\*(?!\/)|\/\//gm, blank)
    const sentences = matchesOf(words, /(?=[A-Z])(?<=^\s*|[.!?:]\s+)[A-Z][^.!?]*[.!?]?/g)
    return sentences.map((sentence) => ({ ...sentence, index: index + sentence.index }))
  })
}

const matchesOf = (text: string, pattern: RegExp): Sentence[] =>
  [...text.matchAll(pattern)].map((match) => ({ text: match[0], index: match.index }))
