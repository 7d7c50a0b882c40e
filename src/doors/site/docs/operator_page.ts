import type { OperatorOperation } from '#contract/operator/operation.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { html, type Markup } from '#doors/markup.ts'
import type { DocPage } from './doc_page.ts'
import { fieldList, fieldsOf } from './fields.ts'
import { isList, paging, pagingSection } from './reference.ts'

export function operatorPage(): DocPage {
  const operations = Object.values<OperatorOperation>(operator_operations)
  return {
    path: 'operator',
    title: 'Operator API',
    group: 'Running it',
    anchors: operations.map(({ name: id, summary, method, path }) => ({
      id,
      title: id.replace('operator_', ''),
      kind: 'call',
      words: `${summary}\n${method} /operator/v1${path}`,
    })),
    body: html`<h1>Operator API</h1>
<p class="lead">For operators of the card program: <code>/operator/v1</code>, with a token from
<code>florin operator create</code>. The roles are viewer, support, risk and admin; each may also do
what the roles before it may. Writes take an <code>Idempotency-Key</code>. See also the <a
href="/operator/openapi.json">OpenAPI description</a> and <a href="/docs/running">Running a card
program</a>.</p>
${operations.map(operationEntry)}`,
  }
}

function operationEntry(operation: OperatorOperation): Markup {
  const { name, method, path, access, summary, input, output } = operation
  const leave_out = isList(input) ? paging : []
  const fields = fieldsOf(input, { link_objects: false, leave_out })
  return html`<section class="operation"><h2 id="${name}"><code>${name}</code>
<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h2>
<p class="route"><b class="method ${method}">${method}</b> <code>/operator/v1${path}</code></p>
<p>${summary} <span class="soft">Role: ${access.operator}.</span></p>
${fields.length > 0 && fieldList(fields, { id: `${name}.in`, input: true })}
${isList(input) && pagingSection(operation)}
<details><summary>Response fields</summary>
${fieldList(fieldsOf(output, { link_objects: true }), { id: `${name}.out`, input: false })}
</details>
</section>`
}
