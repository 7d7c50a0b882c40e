/** Text that is inserted into HTML unescaped; only `html` and the renderers create it. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Piece = string | number | Markup | readonly Markup[] | false | null

/** Escapes every value except Markup. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  const text = parts.map((part, at) => part + (at < pieces.length ? shown(pieces[at]) : ''))
  return new Markup(text.join(''))
}

function shown(piece: Piece | undefined): string {
  if (piece === undefined || piece === null || piece === false) return ''
  if (piece instanceof Markup) return piece.text
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('')
  return String(piece).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
