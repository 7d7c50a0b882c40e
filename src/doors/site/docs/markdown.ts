import MarkdownIt, { type Token } from 'markdown-it'
import { html, Markup } from '#doors/markup.ts'
import { highlight } from './highlight.ts'

/** The address of a link on the site, or null for a target that the site does not link to. */
export type LinkTo = (target: string) => string | null

/** `section` is the text below the heading. */
type Heading = { level: number; id: string; text: string; section: string }
/** `lead` is the first sentence of the first paragraph. */
export type RenderedPage = { title: string; lead: string; body: Markup; headings: Heading[] }

/**
 * Raw HTML is shown as text, so no document can become markup. Quotes and apostrophes become
 * typographic, as in the panel; other replacements, such as of (c), stay off.
 */
const markdown = new MarkdownIt({ html: false, typographer: true }).disable([
  'code',
  'image',
  'replacements',
])

Object.assign(markdown.renderer.rules, {
  // Wide tables and code blocks scroll, with the keyboard too.
  table_open: () => '<div class="scroll" tabindex="0"><table>',
  table_close: () => '</table></div>\n',
  th_open: (tokens: readonly Token[], index: number) =>
    tokens[index + 1]?.content === '#' ? '<th scope="col" class="narrow">' : '<th scope="col">',
  td_open: () => '<td>',
  fence: (tokens: readonly Token[], index: number) => {
    const { info = '', content = '' } = tokens[index] ?? {}
    return `${codeBlock(info.trim(), content.replace(/\n$/, '')).text}\n`
  },
  code_inline: (tokens: readonly Token[], index: number) =>
    `<code>${withBreaks(tokens[index]?.content ?? '')}</code>`,
  heading_close: (tokens: readonly Token[], index: number) => {
    const { tag, meta } = tokens[index] as Token
    const { id, text } = meta as Heading
    const anchor = html` <a class="anchor" href="#${id}" aria-label="Link to ${text}">#</a>`
    return `${anchor.text}</${tag}>\n`
  },
})

/** A long path or name breaks after its joints; a <wbr> is not copied with the text. */
function withBreaks(code: string): string {
  return markdown.utils
    .escapeHtml(code)
    .replaceAll(/\S{16,}/g, (word) =>
      word.replaceAll(/(?<=[\p{L}\p{N}}])[/_.:-]+(?=[\p{L}\p{N}{])/gu, '$&<wbr>'),
    )
}

export function renderMarkdown(source: string, linkTo: LinkTo): RenderedPage {
  const tokens = markdown.parse(source, {})
  const headings = nameHeadings(tokens)
  const paragraph = tokens.findIndex(({ type, level }) => type === 'paragraph_open' && level === 0)
  const lead = /^.*?[.:](?=\s|$)/s.exec(plainText(tokens[paragraph + 1]))?.[0] ?? ''
  return {
    title: headings[0]?.text ?? '',
    lead: paragraph === -1 ? '' : lead.replace(/:$/, '.'),
    body: rendered(tokens, linkTo),
    headings,
  }
}

/** A description from the contract: text and code, without links. */
export const renderInline = (text: string): Markup =>
  rendered(markdown.parseInline(text, {}), () => null)

function rendered(tokens: Token[], linkTo: LinkTo): Markup {
  for (const { children } of tokens) resolveLinks(children ?? [], linkTo)
  return new Markup(markdown.renderer.render(tokens, markdown.options, {}).trimEnd())
}

/** A link without an address keeps only its text. */
function resolveLinks(tokens: readonly Token[], linkTo: LinkTo): void {
  let address: string | null = null
  for (const token of tokens) {
    if (token.type === 'link_open') address = linkTo(String(token.attrGet('href')))
    else if (token.type !== 'link_close') continue
    token.hidden = address === null
    if (token.type === 'link_open' && address !== null) token.attrs = [['href', address]]
  }
}

function nameHeadings(tokens: readonly Token[]): Heading[] {
  const headings: Heading[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const text = plainText(tokens[index + 1])
    const level = Number(token.tag.slice(1))
    const section = sectionText(tokens.slice(index + 3))
    const heading = { level, id: freeId(slugOf(text), headings), text, section }
    headings.push(heading)
    token.attrSet('id', heading.id)
    const closing = tokens[index + 2]
    if (closing !== undefined) closing.meta = heading
  }
  return headings
}

function freeId(slug: string, headings: readonly Heading[]): string {
  const isTaken = (id: string) => headings.some((heading) => heading.id === id)
  let id = slug
  for (let count = 2; isTaken(id); count += 1) id = `${slug}-${count}`
  return id
}

/**
 * All text up to the next heading: a paragraph, a row of a table or a line of code is one line, so
 * that excerpts do not run them together. Code comes last: sentences make better excerpts.
 */
function sectionText(tokens: readonly Token[]): string {
  const lines: string[] = []
  const code: string[] = []
  let cells: string[] | null = null
  for (const token of tokens) {
    if (token.type === 'heading_open') break
    if (token.type === 'tr_open') cells = []
    if (token.type === 'inline') {
      const target = cells ?? lines
      target.push(plainText(token).replaceAll(/\s+/g, ' '))
    }
    if (token.type === 'fence') code.push(token.content)
    if (token.type === 'tr_close') {
      lines.push((cells ?? []).join(' · '))
      cells = null
    }
  }
  return [...lines, ...code].join('\n')
}

/** The text without markup, for titles and the search. */
const plainText = (inline: Token | undefined): string =>
  (inline?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' ? '\n' : content))
    .join('')

export function codeBlock(language: string, text: string): Markup {
  const code = highlight(language, text)
  return html`<pre tabindex="0" data-language="${language}"><code>${code}</code></pre>`
}

export function slugOf(text: string): string {
  const slug = text.toLowerCase().replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
  return slug.replace(/^-|-$/g, '') || 'section'
}
