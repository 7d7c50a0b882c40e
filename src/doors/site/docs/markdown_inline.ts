import { html, Markup } from '#doors/markup.ts'

/** Where a link of a document leads on the site; null where it leads nowhere we would send to. */
export type LinkTo = (target: string) => string | null

/**
 * Code, links, strong and stressed text, and escaped signs. All else is text, tags among it: what
 * stands in a document cannot become markup.
 */
const PIECES = new RegExp(
  [
    /\\(?<sign>[\\`*_[\]|<>#-])/,
    /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
    /\[(?<label>(?:[^[\]\\`]|\\.|`[^`]*`)+)\]\((?<target>[^\s()]+)\)/,
    /\*\*(?<strong>[^*]+(?:\*[^*]+)*)\*\*/,
    /\*(?<stress>[^*\s](?:[^*]*[^*\s])?)\*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
)

export function inline(text: string, linkTo: LinkTo): Markup {
  const out: Markup[] = []
  let at = 0
  for (const match of text.matchAll(PIECES)) {
    out.push(html`${text.slice(at, match.index)}`, pieceOf(match, linkTo))
    at = match.index + match[0].length
  }
  out.push(html`${text.slice(at)}`)
  return new Markup(out.map((piece) => piece.text).join(''))
}

function pieceOf({ groups = {}, 0: whole }: RegExpMatchArray, linkTo: LinkTo): Markup {
  const { sign, code, label, target, strong, stress } = groups
  if (sign !== undefined) return html`${sign}`
  if (code !== undefined) return html`<code>${code.replace(/^ (.*) $/s, '$1')}</code>`
  if (strong !== undefined) return html`<strong>${inline(strong, linkTo)}</strong>`
  if (stress !== undefined) return html`<em>${inline(stress, linkTo)}</em>`
  const address = target === undefined ? null : linkTo(target)
  if (address === null || label === undefined) return html`${label ?? whole}`
  return html`<a href="${address}">${inline(label, linkTo)}</a>`
}

/** As plain words: for titles and for the search. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\\(.)/g, '$1')
}
