import { type Anchor, type DocPage, hrefOf } from './doc_page.ts'

export type SearchResult = {
  title: string
  kind: string
  page: string
  href: string
  /** The words searched for, in their context; empty if only names match. */
  excerpt: ExcerptPart[]
}
export type ExcerptPart = { text: string; is_match: boolean }
type IndexEntry = Omit<SearchResult, 'excerpt'> & {
  name: string
  page_name: string
  /** One passage per line, and the same with one space between lower-case words. */
  text: string
  words: string
  weight: number
}

/** Ranks names before headings, and fields last. */
const weights: Readonly<Record<Anchor['kind'] | 'page', number>> = {
  operation: 6,
  page: 5,
  object: 4,
  event: 4,
  error: 4,
  heading: 3,
  call: 2,
  field: 1,
}

/** The kinds as readers see them. */
const kind_names: Readonly<Record<Anchor['kind'] | 'page', string>> = {
  operation: 'Operation',
  page: 'Page',
  object: 'Object',
  event: 'Event',
  error: 'Error code',
  heading: 'Section',
  call: 'Operator call',
  field: 'Field',
}

/** Every page and section with its whole text, built once. */
export function searchIndex(pages: readonly DocPage[]): IndexEntry[] {
  return pages.flatMap((page) => [
    entryOf(page, { id: '', title: page.title, kind: 'page', words: page.text ?? '' }),
    ...page.anchors.map((anchor) => entryOf(page, anchor)),
  ])
}

type IndexedItem = Omit<Anchor, 'kind'> & { kind: Anchor['kind'] | 'page' }

function entryOf(page: DocPage, { id, title, kind, words = '' }: IndexedItem): IndexEntry {
  return {
    title,
    kind: kind_names[kind],
    page: page.title,
    href: id === '' ? hrefOf(page) : `${hrefOf(page)}#${id}`,
    name: title.toLowerCase(),
    page_name: wordsOf(page.title),
    text: words,
    words: wordsOf(words),
    // Decisions and proofs mention everything; guides explain it.
    weight: page.group === 'Project' ? -30 : weights[kind],
  }
}

const wordsOf = (text: string): string =>
  ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}_]+/gu, ' ')} `

const WORDS_MAX = 8

/** All words must match. A name ranks above a text, and a prefix above a substring. */
export function search(index: readonly IndexEntry[], query: string, limit: number): SearchResult[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX)
  if (words.length === 0) return []
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > Number.NEGATIVE_INFINITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ entry }) => {
      const { title, kind, page, href } = entry
      return { title, kind, page, href, excerpt: excerptOf(entry, words) }
    })
}

/** "webhooks" and "verifying" also find "webhook" and "verify". */
const stemOf = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word

/** A shorter word is inside too many others: "two" in "networks". */
const SUBSTRING_MIN = 4

function scoreOf(entry: IndexEntry, query_words: readonly string[]): number {
  const { name, words, page_name } = entry
  let score = entry.weight
  for (const word of query_words) {
    const stem = stemOf(word)
    if (name === word && query_words.length === 1) score += 100
    else if (name.startsWith(word)) score += 40
    else if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(stem))) score += 25
    else if (word.length >= SUBSTRING_MIN && name.includes(word)) score += 12
    else if (page_name.includes(` ${stem}`)) score += 8
    else if (words.includes(` ${stem}`)) score += 4
    else return Number.NEGATIVE_INFINITY
  }
  return isPhraseIn(words, query_words) ? score + 15 : score
}

const isPhraseIn = (words: string, query_words: readonly string[]): boolean =>
  query_words.length > 1 && words.includes(` ${query_words.map(stemOf).join(' ')}`)

const EXCERPT_MAX = 120
/** Text before the first match, so that it has a context. */
const LEAD = 30

/** From the passage with most of the words, beginning a few words before most of them. */
function excerptOf({ text, words }: IndexEntry, query_words: readonly string[]): ExcerptPart[] {
  const stems = query_words.map(stemOf).filter((word) => words.includes(` ${word}`))
  if (stems.length === 0) return []
  const each = stems.map((stem) => patternOf([stem]))
  const countIn = (part: string) => each.filter((pattern) => pattern.test(part)).length
  const passages = text.split('\n').map((passage) => passage.replaceAll(/\s+/g, ' ').trim())
  const passage = mostOf(passages, countIn) ?? ''
  const pattern = patternOf(stems)
  const starts = [...passage.matchAll(new RegExp(pattern, 'giu'))].map(({ index }) => index)
  const start = mostOf(starts, (at) => countIn(passage.slice(at, at + EXCERPT_MAX - LEAD))) ?? 0
  return markMatches(cutAround(passage, start), pattern)
}

/** A word that begins with one of these, as `scoreOf` finds them. */
const patternOf = (stems: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])(?:${stems.join('|')})[\\p{L}\\p{N}_]*`, 'iu')

/** The first of those with the highest count. */
const mostOf = <Item>(items: readonly Item[], count: (item: Item) => number): Item | undefined =>
  items.toSorted((a, b) => count(b) - count(a))[0]

function cutAround(passage: string, start: number): string {
  if (passage.length <= EXCERPT_MAX) return passage
  const from = start <= LEAD ? 0 : passage.lastIndexOf(' ', start - LEAD) + 1
  const rest = passage.slice(from)
  const isCut = rest.length > EXCERPT_MAX
  const part = isCut ? `${rest.slice(0, EXCERPT_MAX).replace(/[\s.,…]+\S*$/, '')}…` : rest
  return from > 0 ? `…${part}` : part
}

function markMatches(text: string, pattern: RegExp): ExcerptPart[] {
  const parts: ExcerptPart[] = []
  let at = 0
  for (const match of text.matchAll(new RegExp(pattern, 'giu'))) {
    parts.push({ text: text.slice(at, match.index), is_match: false })
    parts.push({ text: match[0], is_match: true })
    at = match.index + match[0].length
  }
  parts.push({ text: text.slice(at), is_match: false })
  return parts.filter((part) => part.text !== '')
}
