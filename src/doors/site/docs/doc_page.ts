import type { Markup } from '#doors/markup.ts'

/** One page of the docs, before it is dressed. */
export type DocPage = {
  /** Below /docs; empty for the first page. */
  path: string
  title: string
  /** A sentence on what it is about. */
  lead?: string
  group: 'Guides' | 'API reference' | 'Running it' | 'Project'
  body: Markup
  /** What can be jumped to on it. */
  anchors: readonly Anchor[]
}

export type Anchor = {
  id: string
  title: string
  kind: 'heading' | 'operation' | 'object' | 'event' | 'error' | 'field' | 'call'
  /** More words to find it by. */
  words?: string
}

export const hrefOf = ({ path }: Pick<DocPage, 'path'>): string =>
  path === '' ? '/docs' : `/docs/${path}`
