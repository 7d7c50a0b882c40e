import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import type { DocPage } from './doc_page.ts'
import { type LinkTo, renderMarkdown } from './markdown.ts'

/** The documents in docs/, in reading order for a newcomer. */
export const guide_groups = {
  Guides: [
    'quickstart',
    'accounts',
    'sandbox',
    'agents',
    'webhooks',
    'verify_webhooks',
    'live',
    'idempotency',
    'errors',
    'money',
    'paid_operations',
    'commands',
  ],
  'Running it': [
    'launch',
    'going_live',
    'running',
    'scaling',
    'backup',
    'settings',
    'chains',
    'card_host',
    'upgrading',
    'security',
  ],
  Project: ['decisions', 'proof', 'performance', 'open_points', 'security_review'],
} as const satisfies Partial<Record<DocPage['group'], readonly string[]>>

const guide_names: readonly string[] = Object.values(guide_groups).flat()

export function guidePages(public_url: string): DocPage[] {
  return Object.entries(guide_groups).flatMap(([group, names]) =>
    names.map((name): DocPage => {
      const source = readFileSync(join(root, 'docs', `${name}.md`), 'utf8')
      const markdown = source.replaceAll('{public_url}', public_url)
      const { title, lead, body, headings } = renderMarkdown(markdown, linkTo)
      const anchors = headings
        .filter(({ level }) => level === 2 || level === 3)
        .map(({ id, text, section }) => ({
          id,
          title: text,
          kind: 'heading' as const,
          words: section,
        }))
      const text = headings[0]?.section ?? ''
      return { path: name, title, lead, group: group as DocPage['group'], body, text, anchors }
    }),
  )
}

/** Allows links to other guides, within the site and to the web. */
const linkTo: LinkTo = (target) => {
  if (/^(https?:\/\/|mailto:|#|\/(?!\/))/.test(target)) return target
  const [, name = '', anchor = ''] = /^(?:\.\/)?(\w+)\.md(#[\w-]+)?$/.exec(target) ?? []
  return guide_names.includes(name) ? `/docs/${name}${anchor}` : null
}
