import { html, Markup } from '#doors/markup.ts'
import { inline, type LinkTo, plainText } from './markdown_inline.ts'

/**
 * The part of Markdown that our documents use: headings, paragraphs, fenced code, lists, tables,
 * quotes and rules. There is no raw HTML: a document is text, and is shown as what it says.
 */
export type Heading = { level: number; id: string; text: string }
/** `lead` is the first sentence of the first paragraph. */
export type Rendered = { title: string; lead: string; body: Markup; headings: Heading[] }

export function renderMarkdown(source: string, linkTo: LinkTo): Rendered {
  const blocks = new Blocks(source.replaceAll('\r\n', '\n').split('\n'), linkTo)
  const body = blocks.all()
  const [first] = blocks.headings
  return { title: first?.text ?? '', lead: blocks.lead, body, headings: blocks.headings }
}

const FENCE = /^(?<fence>```+)\s*(?<language>[\w-]*)\s*$/
const HEADING = /^(?<marks>#{1,4}) +(?<text>.+?) *#*$/
const ITEM = /^(?<indent> *)(?<mark>[-*]|\d{1,3}\.) +(?<text>.*)$/
const RULE = /^-{3,}$/
const TABLE_LINE = /^\|?[ :|-]*-{3,}[ :|-]*\|?$/

class Blocks {
  readonly headings: Heading[] = []
  lead = ''
  readonly #lines: readonly string[]
  readonly #linkTo: LinkTo
  #at = 0

  constructor(lines: readonly string[], linkTo: LinkTo) {
    this.#lines = lines
    this.#linkTo = linkTo
  }

  all(): Markup {
    const out: Markup[] = []
    while (this.#at < this.#lines.length) {
      const block = this.#block()
      if (block !== null) out.push(block)
    }
    return new Markup(out.map(({ text }) => text).join('\n'))
  }

  #block(): Markup | null {
    const line = this.#line()
    const fence = FENCE.exec(line)?.groups
    if (fence !== undefined) return this.#code(fence['fence'] ?? '', fence['language'] ?? '')
    const heading = HEADING.exec(line)?.groups
    if (heading !== undefined) return this.#heading(heading['marks'] ?? '', heading['text'] ?? '')
    if (line.trim() === '') return this.#skip(null)
    if (RULE.test(line)) return this.#skip(html`<hr>`)
    if (line.startsWith('>')) return this.#quote()
    if (ITEM.test(line)) return this.#list()
    if (line.includes('|') && TABLE_LINE.test(this.#line(1))) return this.#table()
    return this.#paragraph()
  }

  #line(ahead = 0): string {
    return this.#lines[this.#at + ahead] ?? ''
  }

  #skip<Block>(block: Block): Block {
    this.#at += 1
    return block
  }

  /** Lines as long as they belong, moving past them. */
  #take(belongs: (line: string) => boolean): string[] {
    const from = this.#at
    while (this.#at < this.#lines.length && belongs(this.#line())) this.#at += 1
    return this.#lines.slice(from, this.#at)
  }

  #code(fence: string, language: string): Markup {
    this.#at += 1
    const lines = this.#take((line) => line !== fence)
    this.#at += 1
    return codeBlock(language, lines.join('\n'))
  }

  #heading(marks: string, text: string): Markup {
    this.#at += 1
    const plain = plainText(text)
    const id = this.#freeId(slugOf(plain))
    this.headings.push({ level: marks.length, id, text: plain })
    const tag = new Markup(`h${marks.length}`)
    const anchor = html` <a class="anchor" href="#${id}" aria-label="Link to ${plain}">#</a>`
    return html`<${tag} id="${id}">${inline(text, this.#linkTo)}${anchor}</${tag}>`
  }

  #freeId(slug: string): string {
    const isTaken = (id: string) => this.headings.some((heading) => heading.id === id)
    let id = slug
    for (let count = 2; isTaken(id); count += 1) id = `${slug}-${count}`
    return id
  }

  #quote(): Markup {
    const lines = this.#take((line) => line.startsWith('>'))
    const inner = new Blocks(
      lines.map((line) => line.replace(/^> ?/, '')),
      this.#linkTo,
    )
    return html`<blockquote>${inner.all()}</blockquote>`
  }

  /** An item goes on over lines that are indented; what they hold is a document of its own. */
  #list(): Markup {
    const items: string[][] = []
    const first = ITEM.exec(this.#line())?.groups ?? {}
    const isOrdered = /\d/.test(first['mark'] ?? '')
    for (;;) {
      const item = ITEM.exec(this.#line())?.groups
      if (item === undefined || /\d/.test(item['mark'] ?? '') !== isOrdered) break
      const width = (item['indent'] ?? '').length + (item['mark'] ?? '').length + 1
      this.#at += 1
      const rest = this.#take((line) => line.startsWith(' ') || (line === '' && this.#goesOn()))
      const dedented = rest.map((line) => line.replace(new RegExp(`^ {0,${width}}`), ''))
      items.push([item['text'] ?? '', ...dedented])
    }
    const shown = items.map((lines) => html`<li>${this.#item(lines)}</li>`)
    return isOrdered ? html`<ol>${shown}</ol>` : html`<ul>${shown}</ul>`
  }

  #goesOn(): boolean {
    return this.#line(1).startsWith(' ')
  }

  /** A short item is a line of text, not a paragraph with its margins. */
  #item(lines: readonly string[]): Markup {
    const isPlain = lines.every((line) => line !== '' && !ITEM.test(line) && !FENCE.test(line))
    if (isPlain) return inline(lines.join('\n'), this.#linkTo)
    return new Blocks(lines, this.#linkTo).all()
  }

  #table(): Markup {
    const head = cellsOf(this.#line())
    this.#at += 2
    const rows = this.#take((line) => line.includes('|')).map(cellsOf)
    const cells = (row: readonly string[]) =>
      head.map((_, at) => html`<td>${inline(row[at] ?? '', this.#linkTo)}</td>`)
    return html`<div class="scroll" tabindex="0"><table><thead><tr>${head.map(
      (cell) => html`<th scope="col">${inline(cell, this.#linkTo)}</th>`,
    )}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`
  }

  #paragraph(): Markup {
    const lines = this.#take((line) => this.#isText(line))
    // Whatever begins like a block and is none is text all the same.
    if (lines.length === 0) return this.#skip(html`<p>${inline(this.#line(), this.#linkTo)}</p>`)
    const text = lines.join('\n')
    const lead = /^.*?[.:](?=\s|$)/s.exec(plainText(text))?.[0] ?? ''
    // Where it stands alone, nothing follows its colon.
    if (this.lead === '') this.lead = lead.replace(/:$/, '.')
    return html`<p>${inline(text, this.#linkTo)}</p>`
  }

  #isText(line: string): boolean {
    return !(line.trim() === '' || [FENCE, HEADING, ITEM, RULE].some((block) => block.test(line)))
  }
}

/** A pipe in code or behind a backslash does not end a cell. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  const cells = inner.match(/(?:\\.|`[^`]*`|[^|\\`]|`)+|(?<=\|)(?=\|)/g) ?? []
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** It scrolls inside itself, also by keyboard. */
export function codeBlock(language: string, text: string): Markup {
  return html`<pre tabindex="0" data-language="${language}"><code>${text}</code></pre>`
}

export function slugOf(text: string): string {
  const slug = text.toLowerCase().replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
  return slug.replace(/^-|-$/g, '') || 'section'
}
