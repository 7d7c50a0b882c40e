import type { Markup } from '#doors/markup.ts'

/** A page of the docs, without its frame. */
export type DocPage = {
  /** Below /docs; empty for the first page. */
  path: string
  title: string
  /** A one-sentence summary. */
  lead?: string
  group: 'Guides' | 'API reference' | 'Running it' | 'Project'
  body: Markup
  /** The text before the first heading, for the search. */
  text?: string
  anchors: readonly Anchor[]
}

export type Anchor = {
  id: string
  title: string
  kind: 'heading' | 'operation' | 'object' | 'event' | 'error' | 'field' | 'call'
  /** Additional search terms. */
  words?: string
}

export const hrefOf = ({ path }: DocPage): string => (path === '' ? '/docs' : `/docs/${path}`)
