import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { COIN } from '#doors/look.ts'
import { html, type Markup } from '#doors/markup.ts'
import { isOpenedInBrowser } from '#doors/site/not_found_page.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Settings } from '#settings/settings.ts'
import { type DocPage, hrefOf } from './doc_page.ts'
import { docs_headers, renderPage } from './frame.ts'
import { DOCS_SCRIPT } from './script.ts'
import { type ExcerptPart, type SearchResult, search, searchIndex } from './search.ts'
import { DOCS_STYLE } from './style.ts'

const INSTANT_MAX = 12
const RESULTS_MAX = 60

/**
 * Pages are rendered from the contract and docs/ on first use, so that a start does not load their
 * code, and load nothing from elsewhere.
 */
export function mountDocs(app: FastifyInstance, settings: Settings): void {
  const pages = lazy(async () => {
    const { docPages } = await import('./doc_pages.ts')
    return docPages(settings)
  })
  const index = lazy(async () => searchIndex(await pages()))
  const texts = lazy(async () => {
    const all = await pages()
    return new Map(all.map((page) => [hrefOf(page), renderPage(page, all)]))
  })
  const sendDoc = async (request: FastifyRequest, reply: FastifyReply) => {
    const text = (await texts()).get(request.url.replace(/\?.*$/, ''))
    if (text !== undefined) return sendPage(reply, text)
    if (!isOpenedInBrowser(request)) return reply.callNotFound()
    return sendPage(reply.code(404), renderPage(unknown_page, await pages()))
  }
  app.get('/docs', sendDoc)
  app.get('/docs/*', sendDoc)
  app.get('/docs/search', async (request, reply) => {
    const query = queryOf(request.query)
    const page = resultsPage(query, search(await index(), query, RESULTS_MAX))
    return sendPage(reply, renderPage(page, await pages(), query))
  })
  app.get('/docs/search.json', async (request, reply) =>
    reply
      .headers(docs_headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(search(await index(), queryOf(request.query), INSTANT_MAX))),
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

function excerptLine(excerpt: readonly ExcerptPart[]): Markup | false {
  const parts = excerpt.map(({ text, is_match }) =>
    is_match ? html`<mark>${text}</mark>` : html`${text}`,
  )
  return parts.length > 0 && html`<span>${parts}</span>`
}

function resultsPage(query: string, results: readonly SearchResult[]): DocPage {
  const title =
    query === '' ? 'Search' : `${results.length > 0 ? 'Results' : 'No results'} for “${query}”`
  const list = html`<ul class="results">${results.map(
    ({ title: name, kind, page, href, excerpt }) => html`<li><a href="${href}">${name}
<small>${kind} · ${page}</small>${excerptLine(excerpt)}</a></li>`,
  )}</ul>`
  const body = html`<h1>${title}</h1>${results.length > 0 ? list : emptyText(query)}`
  return { path: 'search', title, group: 'Guides', anchors: [], body }
}

function emptyText(query: string): Markup {
  if (query === '') return html`<p>Type a search term.</p>`
  const advice = /\S\s+\S/.test(query) ? 'Try fewer words' : 'Check the spelling'
  return html`<p>${advice}, or see <a href="/docs">all pages</a>.</p>`
}

const unknown_page: DocPage = {
  path: 'not_found',
  title: 'Page not found',
  group: 'Guides',
  anchors: [],
  body: html`<h1>Page not found</h1>
<p>The page may have moved. Search for it above, or see <a href="/docs">all pages</a>.</p>`,
}
