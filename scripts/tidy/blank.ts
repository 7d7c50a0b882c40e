/**
 * The code of a file without its prose. Words inside strings, patterns and comments become spaces
 * of the same length, so that a check for `any` does not trip over a sentence, and an offset in
 * one text is the same place in the other. It is a reader for our own formatted sources, not a
 * parser: a pattern is recognised by what stands before it.
 */
type Prose = 'comments' | 'strings'

type Piece = { end: number; kind: 'code' | Prose }

const BEFORE_A_PATTERN = /(?:^|[(,=:[!&|?;{+*%~^-]|=>|\b(?:return|typeof|case|in|of|await))\s*$/
const PATTERN = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/y
/** More than the longest keyword that a pattern may follow. */
const LOOK_BACK = 10

function quotedEnd(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at + 1
    // An apostrophe in the text of a page is no string: it ends with its line.
    else if (text[at] === '\n') return at
  }
  return text.length
}

function patternEnd(text: string, start: number, before: string): number | undefined {
  if (!BEFORE_A_PATTERN.test(before)) return undefined
  PATTERN.lastIndex = start
  return PATTERN.test(text) ? PATTERN.lastIndex : undefined
}

/** The end of a template's words: its closing backtick or the opening of a `${`. */
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
  return { end: start + 1, kind: 'code' }
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  // How deep in braces each open `${` of a template stands.
  const templates: number[] = []
  let depth = 0
  // The last code before here, without comments: it tells a pattern from a division.
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
    if (piece.kind !== 'comments') before = (before + text.slice(at, piece.end)).slice(-LOOK_BACK)
    pieces.push(piece)
  }
  return pieces
}

/** Quotes stay, so that an import can still be seen to be one, and so do the braces of `${}`. */
function blanked(words: string): string {
  return words.replace(/(?!^\}|\$\{$|(?<=\$)\{$)[^\n'"`]/g, ' ')
}

export function withoutProse(
  text: string,
  without: readonly Prose[] = ['comments', 'strings'],
): string {
  let start = 0
  return piecesOf(text)
    .map(({ end, kind }) => {
      const words = text.slice(start, end)
      start = end
      return kind !== 'code' && without.includes(kind) ? blanked(words) : words
    })
    .join('')
}
