import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { COIN } from '#doors/look.ts'
import { html } from '#doors/markup.ts'
import { section_descriptions } from '#doors/site/openapi.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Settings } from '#settings/settings.ts'
import { type DocPage, hrefOf } from './doc_page.ts'
import { docs_headers, renderPage } from './frame.ts'
import { guidePages } from './guides.ts'
import { operatorPage } from './operator_page.ts'
import { operationTable, referencePages, sectionPath } from './reference.ts'
import { DOCS_SCRIPT } from './script.ts'
import { type SearchResult, search, searchIndex } from './search.ts'
import { DOCS_STYLE } from './style.ts'
import { tablePages } from './tables.ts'

const INSTANT_MAX = 12
const RESULTS_MAX = 60

/** Pages are rendered from the contract and docs/ on first use, and load nothing from elsewhere. */
export function mountDocs(app: FastifyInstance, settings: Settings): void {
  const pages = lazy(() => docPages(settings))
  const index = lazy(() => searchIndex(pages()))
  const texts = lazy(
    () => new Map(pages().map((page) => [hrefOf(page), renderPage(page, pages())])),
  )
  const sendDoc = (request: FastifyRequest, reply: FastifyReply) => {
    const text = texts().get(request.url.replace(/\?.*$/, ''))
    return text === undefined ? reply.callNotFound() : sendPage(reply, text)
  }
  app.get('/docs', sendDoc)
  app.get('/docs/*', sendDoc)
  app.get('/docs/search', (request, reply) => {
    const query = queryOf(request.query)
    const page = resultsPage(query, search(index(), query, RESULTS_MAX))
    return sendPage(reply, renderPage(page, pages(), query))
  })
  app.get('/docs/search.json', (request, reply) =>
    reply
      .headers(docs_headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(search(index(), queryOf(request.query), INSTANT_MAX))),
  )
  const serveAsset = (url: string, type: string, text: string) =>
    app.get(url, (_request, reply) =>
      reply
        .headers({ ...docs_headers, 'Cache-Control': 'public, max-age=31536000, immutable' })
        .type(`${type}; charset=utf-8`)
        .send(text),
    )
  serveAsset('/docs/icon.svg', 'image/svg+xml', COIN)
  serveAsset('/docs/style.css', 'text/css', DOCS_STYLE)
  serveAsset('/docs/script.js', 'text/javascript', DOCS_SCRIPT)
}

const sendPage = (reply: FastifyReply, text: string) =>
  reply.headers(docs_headers).type('text/html; charset=utf-8').send(text)

const QUERY_MAX = 200

function queryOf(query: unknown): string {
  const { q } = query as { q?: unknown }
  return typeof q === 'string' ? q.slice(0, QUERY_MAX) : ''
}

export function docPages({ public_url }: { public_url: string }): DocPage[] {
  const guides = guidePages(public_url)
  const reference = [...referencePages(`${public_url}/v1`), ...tablePages()]
  const overview = overviewPage(public_url, guides)
  return [overview, ...guides, ...reference, operatorPage()]
}

function overviewPage(public_url: string, guides: readonly DocPage[]): DocPage {
  const shapes: readonly OperationShape[] = Object.values(operations)
  const tiles = guides.filter(({ group }) => group !== 'Project')
  return {
    path: '',
    title: 'Documentation',
    group: 'Guides',
    anchors: [],
    body: html`<h1>Florin documentation</h1>
<p class="lead">Open an account, fund it with stablecoins, and issue, control and reconcile payment
cards. ${shapes.length} operations, over REST and as MCP tools.</p>
<ul class="tiles">${tiles.map(
      (page) => html`<li><a href="${hrefOf(page)}">${page.title}
<small>${page.lead ?? ''}</small></a></li>`,
    )}</ul>
<h2>Endpoints</h2>
<dl class="fields">
<div><dt>REST API</dt><dd><code>${public_url}/v1</code></dd></div>
<div><dt>Agent tools (MCP)</dt><dd><code>${public_url}/mcp</code></dd></div>
<div><dt>OpenAPI</dt><dd><a href="/openapi.json">openapi.json</a>,
<a href="/openapi.yaml">openapi.yaml</a></dd></div>
</dl>
${Object.keys(section_descriptions).map(
  (section) => html`<h2><a href="/docs/${sectionPath(section)}">${section}</a></h2>
${operationTable(shapes.filter((shape) => shape.section === section))}`,
)}`,
  }
}

function resultsPage(query: string, results: readonly SearchResult[]): DocPage {
  const title = query === '' ? 'Search' : `Results for “${query}”`
  const list = html`<ul class="results">${results.map(
    ({ title: name, kind, page, href }) => html`<li><a href="${href}">${name}
<small>${kind} · ${page}</small></a></li>`,
  )}</ul>`
  const empty_text = query === '' ? 'Type a search term.' : 'No results. Try fewer words.'
  const body = html`<h1>${title}</h1>${results.length > 0 ? list : html`<p>${empty_text}</p>`}`
  return { path: 'search', title, group: 'Guides', anchors: [], body }
}
