import { type Anchor, type DocPage, hrefOf } from './doc_page.ts'

export type SearchResult = {
  title: string
  kind: string
  page: string
  href: string
  /** The text around the first match; empty if only names match. */
  excerpt: string
}
type IndexEntry = Omit<SearchResult, 'excerpt'> & {
  name: string
  page_name: string
  /** The section's text, and the same with one space between lower-case words. */
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

/** Begins a few words before the first match. */
function excerptOf({ text, words }: IndexEntry, query_words: readonly string[]): string {
  const found = query_words.map(stemOf).filter((word) => words.includes(` ${word}`))
  if (found.length === 0) return ''
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  const first = Math.max(0, plain.toLowerCase().indexOf(found[0] ?? ''))
  const from = first < 40 ? 0 : plain.lastIndexOf(' ', first - 30) + 1
  const rest = plain.slice(from)
  const part =
    rest.length <= EXCERPT_MAX ? rest : `${rest.slice(0, EXCERPT_MAX).replace(/[\s.,…]+\S*$/, '')}…`
  return from > 0 ? `…${part}` : part
}
