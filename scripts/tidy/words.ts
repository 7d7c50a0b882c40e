import { blankProse } from './blank.ts'
import {
  findViolations,
  isCode,
  isTest,
  isWithin,
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

/** Time comes through platform, so that tests can control it. Biome checks Date.now. */
const CLOCK: Ban = {
  pattern: /\bnew Date(?:\(\s*\)|\b(?!\s*\())/g,
  problem: 'reads the clock',
  fix: 'Take now from the context',
}

function banned(file: SourceFile, { pattern, ...about }: Ban, within: string): Violation[] {
  return findViolations(file, pattern, { ...about, within })
}

export function markerViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(
      ({ path }) => isCode(path) && isWithin(path, 'src', 'client', 'cli', 'panel', 'sandbox'),
    )
    .flatMap((file) => {
      return [
        ...banned(file, MARKERS, file.text),
        ...banned(file, COMMENT_MARKERS, blankProse(file.text, ['strings'])),
      ]
    })
}

export function clockViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, 'src'))
    .filter(({ path }) => !isWithin(path, 'src/platform', 'src/main'))
    .flatMap((file) => banned(file, CLOCK, blankProse(file.text)))
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

/** Folders whose texts people read on a page or in an email, not in JSON. */
const READ_BY_PEOPLE = ['panel', 'src/doors/oauth', 'src/domain/notices/templates']

export function apostropheViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !isTest(path) && isWithin(path, ...READ_BY_PEOPLE))
    .flatMap((file) =>
      findViolations(file, /(?<=\p{L})'(?=\p{L})/gu, {
        problem: 'shows a straight apostrophe',
        fix: 'Write ’, or typographic() around a sentence of the API',
        within: blankProse(file.text, ['comments']),
      }),
    )
}
