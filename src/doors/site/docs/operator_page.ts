import type { TObject, TSchema } from 'typebox'
import { html, type Markup } from '#doors/markup.ts'
import type { DocPage } from './doc_page.ts'
import { fieldList, fieldsOf } from './fields.ts'

/** The parts of an operator call that this page shows. */
export type OperatorCallDescription = {
  name: string
  method: string
  path: string
  role: string
  summary: string
  input: TObject
  output: TSchema
}

export function operatorPage(calls: readonly OperatorCallDescription[]): DocPage {
  return {
    path: 'operator',
    title: 'Operator API',
    group: 'Running it',
    anchors: calls.map(({ name: id, summary, method, path }) => ({
      id,
      title: id,
      kind: 'call',
      words: `operator ${summary} ${method} /operator/v1${path}`,
    })),
    body: html`<h1>Operator API</h1>
<p class="lead">For the people who run the programme: <code>/operator/v1</code>, with a bearer from
<code>florin operator create</code>. Each role includes the ones before it: viewer, support, risk,
admin. Calls that change something accept an <code>Idempotency-Key</code>. See also the <a
href="/operator/openapi.json">OpenAPI description</a> and <a href="/docs/running">Running
Florin</a>.</p>
${calls.map(callEntry)}`,
  }
}

function callEntry({
  name,
  method,
  path,
  role,
  summary,
  input,
  output,
}: OperatorCallDescription): Markup {
  const fields = fieldsOf(input, { link_objects: false })
  return html`<section class="operation"><h2 id="${name}"><code>${name}</code>
<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h2>
<p class="route"><b class="method ${method}">${method}</b> <code>/operator/v1${path}</code></p>
<p>${summary} <span class="soft">Role: ${role}.</span></p>
${fields.length > 0 && fieldList(fields, { id: `${name}.in`, input: true })}
<details><summary>Response fields</summary>
${fieldList(fieldsOf(output, { link_objects: true }), { id: `${name}.out`, input: false })}
</details>
</section>`
}
