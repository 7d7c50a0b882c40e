import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'

/** Pages without script: what a person reads before letting a program at their money. */

/** Text that is written into markup as text, and only so. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Markup | readonly Markup[] | false | null

/** Everything put in is escaped, unless it was made by this function itself. */
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

const STYLE = `
:root{color-scheme:light dark;--ground:#f4f3ef;--sheet:#fff;--ink:#1c2120;--soft:#5d6663;
--line:#dcdad3;--accent:#1d5c4d;--on-accent:#fff;--warn:#8a4b00;--warn-ground:#fdf3e2}
@media(prefers-color-scheme:dark){:root{--ground:#141716;--sheet:#1d2220;--ink:#e8ebe9;
--soft:#9aa5a1;--line:#343b38;--accent:#7cc4af;--on-accent:#0f1513;--warn:#f0c07a;
--warn-ground:#2c2415}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:30rem;margin:0 auto;padding:2rem 1rem 3rem}
.mark{font-weight:600;letter-spacing:.02em;color:var(--accent);margin:0 0 1rem}
.mark span{color:var(--soft);font-weight:400}
section{background:var(--sheet);border:1px solid var(--line);border-radius:14px;
padding:1.5rem 1.25rem}
h1{font-size:1.35rem;line-height:1.3;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0}
.soft{color:var(--soft);font-size:.92rem}
.host{font-weight:600;overflow-wrap:anywhere}
.warn{background:var(--warn-ground);color:var(--warn);border-radius:10px;padding:.6rem .8rem;
font-size:.92rem}
label.field{display:block;margin:1rem 0 0;font-weight:500}
input[type=email],input[type=password],input[type=text]{display:block;width:100%;margin-top:.3rem;
padding:.65rem .75rem;font:inherit;color:inherit;background:var(--ground);
border:1px solid var(--line);border-radius:10px}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
fieldset{border:0;margin:0;padding:0}
.choice{display:flex;gap:.7rem;align-items:flex-start;padding:.55rem 0;
border-bottom:1px solid var(--line)}
.choice:last-child{border-bottom:0}
.choice input{width:1.15rem;height:1.15rem;margin:.2rem 0 0;flex:none;accent-color:var(--accent)}
.choice code{display:block;color:var(--soft);font-size:.82rem}
.indent{padding-left:1.85rem}
.buttons{display:flex;flex-wrap:wrap;gap:.6rem;margin-top:1.5rem}
button{flex:1 1 9rem;font:inherit;font-weight:600;padding:.7rem 1rem;border-radius:10px;
border:1px solid var(--line);background:transparent;color:inherit;cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.plain{flex:none;border:0;padding:0;font-weight:500;color:var(--accent);
text-decoration:underline}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** No form-action: browsers apply it to where the form leads in the end, and that is the client. */
export const page_headers: OutgoingHttpHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; ` +
    "frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

export function page(title: string, mode: 'sandbox' | 'live', content: Markup): string {
  const style = new Markup(`<style>${STYLE}</style>`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Florin</title>
${style}
</head>
<body>
<main>
<p class="mark">Florin ${mode === 'sandbox' && html`<span>sandbox</span>`}</p>
<section>
${content}
</section>
</main>
</body>
</html>
`.text
}
