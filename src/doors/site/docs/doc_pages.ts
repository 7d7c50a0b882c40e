import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { html } from '#doors/markup.ts'
import { section_descriptions } from '#doors/site/openapi.ts'
import { type DocPage, hrefOf } from './doc_page.ts'
import { guidePages } from './guides.ts'
import { operatorPage } from './operator_page.ts'
import { operationTable, referencePages, sectionPath } from './reference.ts'
import { tablePages } from './tables.ts'

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
