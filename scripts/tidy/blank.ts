import { blank } from './source.ts'

/**
 * Replaces strings, regular expressions and comments with spaces of the same length, so a check for
 * `any` ignores prose and offsets stay the same. It reads our own formatted sources and is not a
 * parser: it recognizes a regular expression by the code before it.
 */
type Prose = 'comments' | 'strings'

type Piece = { end: number; kind: 'code' | Prose }

const BEFORE_A_PATTERN = /(?:^|[(,=:[!&|?;{+*%~^-]|=>|\b(?:return|typeof|case|in|of|await))\s*$/
const PATTERN = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/y
/** Longer than any keyword before a regular expression. */
const LOOK_BACK = 10

function quotedEnd(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at + 1
    // An apostrophe in JSX text is not a string, so it ends with its line.
    else if (text[at] === '\n') return at
  }
  return text.length
}

function patternEnd(text: string, start: number, before: string): number | undefined {
  if (!BEFORE_A_PATTERN.test(before)) return undefined
  PATTERN.lastIndex = start
  return PATTERN.test(text) ? PATTERN.lastIndex : undefined
}

/** The end of a template's text: its closing backtick or the next `${`. */
function templateEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '`') return at + 1
    else if (text[at] === '$' && text[at + 1] === '{') return at + 2
  }
  return text.length
}

function commentEnd(text: string, start: number): number | undefined {
  if (text.startsWith('//', start)) {
    const end = text.indexOf('\n', start)
    return end === -1 ? text.length : end
  }
  if (!text.startsWith('/*', start)) return undefined
  const end = text.indexOf('*/', start + 2)
  return end === -1 ? text.length : end + 2
}

function pieceAt(text: string, start: number, before: string): Piece {
  const character = text[start]
  if (character === "'" || character === '"') {
    return { end: quotedEnd(text, start), kind: 'strings' }
  }
  if (character === '/') {
    const comment_end = commentEnd(text, start)
    if (comment_end !== undefined) return { end: comment_end, kind: 'comments' }
    const pattern_end = patternEnd(text, start, before)
    if (pattern_end !== undefined) return { end: pattern_end, kind: 'strings' }
  }
  return { end: codeEnd(text, start + 1), kind: 'code' }
}

/** Characters that may begin prose or change the depth; code between them is one piece. */
const SPECIAL = /['"`/{}]/g

function codeEnd(text: string, start: number): number {
  SPECIAL.lastIndex = start
  return SPECIAL.exec(text)?.index ?? text.length
}

/** Several rules read the parts of each file. */
const known_pieces = new Map<string, readonly Piece[]>()

function piecesOf(text: string): readonly Piece[] {
  const pieces = known_pieces.get(text) ?? splitIntoPieces(text)
  known_pieces.set(text, pieces)
  return pieces
}

function splitIntoPieces(text: string): Piece[] {
  const pieces: Piece[] = []
  // The brace depth of each open `${`.
  const templates: number[] = []
  let depth = 0
  // The preceding code without comments, to tell a regular expression from a division.
  let before = ''
  for (let at = 0; at < text.length; at = pieces.at(-1)?.end ?? text.length) {
    const character = text[at]
    if (character === '}') depth -= 1
    const resumes = character === '}' && templates.at(-1) === depth
    if (resumes) templates.pop()
    const piece: Piece =
      resumes || character === '`'
        ? { end: templateEnd(text, at + 1), kind: 'strings' }
        : pieceAt(text, at, before)
    const opens = piece.kind === 'strings' && text.slice(at, piece.end).endsWith('${')
    if (opens) templates.push(depth)
    if (opens || character === '{') depth += 1
    if (piece.kind !== 'comments') {
      before = (before + text.slice(Math.max(at, piece.end - LOOK_BACK), piece.end)).slice(
        -LOOK_BACK,
      )
    }
    pieces.push(piece)
  }
  return pieces
}

/** Keeps quotes, so that imports can be found, and the braces of `${}`. */
function blankKeepingQuotes(words: string): string {
  return words.replace(/(?!^\}|\$\{$|(?<=\$)\{$)[^\n'"`]/g, ' ')
}

export function blankProse(
  text: string,
  without: readonly Prose[] = ['comments', 'strings'],
): string {
  let start = 0
  return piecesOf(text)
    .map(({ end, kind }) => {
      const words = text.slice(start, end)
      start = end
      return kind !== 'code' && without.includes(kind) ? blankKeepingQuotes(words) : words
    })
    .join('')
}

/** The text with all other parts replaced by spaces, so offsets stay the same. */
export function onlyPart(text: string, part: 'code' | Prose): string {
  let start = 0
  return piecesOf(text)
    .map(({ end, kind }) => {
      const words = text.slice(start, end)
      start = end
      return kind === part ? words : blank(words)
    })
    .join('')
}
