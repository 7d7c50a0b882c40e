import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { COIN, LOOK } from '#doors/look.ts'
import { html, Markup } from '#doors/markup.ts'

/** Layout of the sign-in and consent pages. They work without JavaScript. */

const STYLE = `${LOOK}
main{max-width:30rem;margin:0 auto;padding:clamp(1rem,7vh,5rem) 1rem 3rem}
.mark{display:flex;gap:.5rem;align-items:center;font-weight:600;margin:0 0 1rem}
.mark span{margin-left:auto;font-size:.75rem;font-weight:500;padding:.1rem .55rem;
border-radius:99px;color:var(--warn);background:var(--warn-ground)}
section{background:var(--sheet);border:1px solid var(--line);border-radius:12px;
padding:1.5rem 1.25rem;overflow-wrap:anywhere}
@media (min-width:30rem){section{padding:2rem 1.75rem}}
h1{font-size:1.35rem;line-height:1.3;letter-spacing:-.01em;margin:0 0 .5rem}
legend{padding:0}
h2{font-size:.9375rem;margin:1.75rem 0 .25rem}
p{margin:.5rem 0}
section>:last-child{margin-bottom:0}
a{color:var(--accent);text-underline-offset:2px}
.soft{color:var(--soft);font-size:.875rem}
.host{font-weight:600;color:var(--ink)}
.warn{background:var(--warn-ground);color:var(--warn);border-radius:8px;padding:.6rem .8rem;
font-size:.875rem}
label.field{display:block;margin:1.1rem 0 0;font-weight:500;font-size:.875rem}
input[type=email],input[type=password],input[type=text],select{display:block;width:100%;
margin-top:.3rem;padding:.6rem .75rem;font:inherit;font-size:1rem;font-weight:400;color:inherit;
background:var(--ground);border:1px solid var(--line-strong);border-radius:8px}
fieldset{border:0;margin:0;padding:0;min-width:0}
.choice{display:flex;gap:.7rem;align-items:flex-start;padding:.6rem 0;
border-bottom:1px solid var(--line);cursor:pointer}
.choice:last-child{border-bottom:0}
.choice:hover{background:var(--hover);box-shadow:-.5rem 0 var(--hover),.5rem 0 var(--hover)}
.choice input{width:1.15rem;height:1.15rem;margin:.2rem 0 0;flex:none;accent-color:var(--accent)}
.choice span{min-width:0}
.choice small{display:block;color:var(--soft);font-size:.8125rem}
.choice code{display:block;color:var(--soft);font-size:.75rem}
.indent{padding-left:1.85rem}
.buttons{display:flex;flex-wrap:wrap;gap:.6rem;margin-top:1.75rem}
button{flex:1 1 9rem;font:inherit;font-weight:600;padding:.65rem 1rem;border-radius:8px;
border:1px solid var(--line-strong);background:transparent;color:inherit;cursor:pointer}
button:hover{background:var(--hover)}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.main:hover{background:var(--accent-hover);border-color:var(--accent-hover)}
button.plain{flex:none;border:0;padding:0;font-weight:500;font-size:inherit;color:var(--accent);
background:none;text-decoration:underline;text-underline-offset:2px}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; ` +
  "frame-ancestors 'none'"

/** No form-action: browsers also apply it to the final redirect, which goes to the client. */
export const page_headers: OutgoingHttpHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/** Headers that allow exactly this inline script. */
export function scriptedHeaders(script: string): OutgoingHttpHeaders {
  const hash = createHash('sha256').update(script).digest('base64')
  return { ...page_headers, 'Content-Security-Policy': `${POLICY}; script-src 'sha256-${hash}'` }
}

export function page(title: string, mode: 'sandbox' | 'live', content: Markup): string {
  const style = new Markup(`<style>${STYLE}</style>`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Florin</title>
${style}
</head>
<body>
<main>
<p class="mark">${new Markup(COIN)}Florin ${mode === 'sandbox' && html`<span>Sandbox</span>`}</p>
<section>
${content}
</section>
</main>
</body>
</html>
`.text
}
