import { createHash } from 'node:crypto'
import { COIN } from '#doors/look.ts'
import { html, Markup } from '#doors/markup.ts'
import { type DocPage, hrefOf } from './doc_page.ts'
import { DOCS_SCRIPT } from './script.ts'
import { DOCS_STYLE } from './style.ts'

const contentHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
const STYLE_HREF = `/docs/style.css?v=${contentHash(DOCS_STYLE)}`
const SCRIPT_HREF = `/docs/script.js?v=${contentHash(DOCS_SCRIPT)}`

export const docs_headers = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
} as const

const groups: readonly DocPage['group'][] = ['Guides', 'API reference', 'Running it', 'Project']

/** A complete HTML page, with search and navigation. */
export function renderPage(page: DocPage, all: readonly DocPage[], query = ''): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Florin docs</title>
<link rel="icon" type="image/svg+xml" href="/docs/icon.svg">
<link rel="stylesheet" href="${STYLE_HREF}">
<script src="${SCRIPT_HREF}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/docs">${new Markup(COIN)}<b>Florin</b> <span>docs</span></a>
<form class="search" action="/docs/search" role="search">
<input type="search" name="q" value="${query}" placeholder="Search" aria-label="Search the docs"
autocomplete="off" role="combobox" aria-expanded="false" aria-controls="results" maxlength="200">
<kbd>/</kbd><ul class="found" id="results" role="listbox" aria-label="Search results" hidden></ul>
</form>
<nav aria-label="Other pages"><a href="/">Panel</a><a href="/openapi.json">OpenAPI</a>
<button class="theme" type="button" hidden>Theme</button></nav>
</header>
<div class="layout">
${sideNavigation(page, all)}
<main id="content"${hasBeside(page) && html` class="wide"`}>
${page.body}
<p class="foot"><a href="/docs">All pages</a><a href="/openapi.json">openapi.json</a>
<a href="/openapi.yaml">openapi.yaml</a>
<a href="/.well-known/mcp/server-card.json">Agent tools</a></p>
</main>
${!hasBeside(page) && tableOfContents(page)}
</div>
</body>
</html>
`.text
}

/** Pages of operations show code beside the text instead of a table of contents. */
const hasBeside = ({ path }: DocPage): boolean => path.startsWith('api/')

function sideNavigation(page: DocPage, all: readonly DocPage[]): Markup {
  return html`<nav class="side" aria-label="Pages"><details open><summary>All pages</summary>
<ul class="other"><li><a href="/">Panel</a></li>
<li><a href="/openapi.json">OpenAPI</a></li></ul>
${groups.map(
  (group) =>
    html`<h2>${group}</h2><ul>${all
      .filter((each) => each.group === group && each.path !== '')
      .map(
        (each) =>
          html`<li><a href="${hrefOf(each)}"${
            each.path === page.path && html` aria-current="page"`
          }>${each.title}</a></li>`,
      )}</ul>`,
)}</details></nav>`
}

/** Lists the headings and entries of the page, but not single fields. */
function tableOfContents({ anchors }: DocPage): Markup {
  const entries = anchors.filter(({ kind }) => kind !== 'field')
  if (entries.length < 2) return html`<div class="toc"></div>`
  return html`<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>${entries.map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  )}</ul></nav>`
}
