import { type Anchor, type DocPage, hrefOf } from './doc_page.ts'

export type SearchResult = { title: string; kind: string; page: string; href: string }
type IndexEntry = SearchResult & { name: string; words: string; weight: number }

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

export function searchIndex(pages: readonly DocPage[]): IndexEntry[] {
  return pages.flatMap((page) => [
    entryOf(page, { id: '', title: page.title, kind: 'page' }),
    ...page.anchors.map((anchor) => entryOf(page, anchor)),
  ])
}

type IndexedItem = Omit<Anchor, 'kind'> & { kind: Anchor['kind'] | 'page' }

function entryOf(page: DocPage, { id, title, kind, words = '' }: IndexedItem): IndexEntry {
  const href = id === '' ? hrefOf(page) : `${hrefOf(page)}#${id}`
  const name = title.toLowerCase()
  const weight = weights[kind]
  return { title, kind, page: page.title, href, name, words: words.toLowerCase(), weight }
}

const WORDS_MAX = 8

/** All words must match. A name ranks above a description, and a prefix above a substring. */
export function search(index: readonly IndexEntry[], query: string, limit: number): SearchResult[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX)
  if (words.length === 0) return []
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ entry: { title, kind, page, href } }) => ({ title, kind, page, href }))
}

function scoreOf({ name, words, weight }: IndexEntry, query_words: readonly string[]): number {
  let score = weight
  for (const word of query_words) {
    if (name === word) score += 100
    else if (name.startsWith(word)) score += 40
    else if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word))) score += 25
    else if (name.includes(word)) score += 12
    else if (words.includes(word)) score += 4
    else return 0
  }
  return score
}
