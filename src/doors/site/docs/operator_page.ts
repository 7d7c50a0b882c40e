import type { TObject, TSchema } from 'typebox'
import { html, type Markup } from '#doors/markup.ts'
import type { DocPage } from './doc_page.ts'
import { fieldList, fieldsOf } from './fields.ts'

/** A call of another surface than the 52 operations, as far as it is described here. */
export type DescribedCall = {
  name: string
  method: string
  path: string
  role: string
  summary: string
  input: TObject
  output: TSchema
}

export function operatorPage(calls: readonly DescribedCall[]): DocPage {
  return {
    path: 'operator',
    title: "Operator's calls",
    group: 'Running it',
    anchors: calls.map(({ name: id, summary, method, path }) => ({
      id,
      title: id,
      kind: 'call',
      words: `operator ${summary} ${method} /operator/v1${path}`,
    })),
    body: html`<h1>Operator's calls</h1>
<p class="lead">For those who run the programme: <code>/operator/v1</code>, with a bearer made by
<code>florin operator create</code>. Each role may do what those before it may: viewer, support,
risk, admin. Acts take an <code>Idempotency-Key</code>. For machines: <a
href="/operator/openapi.json">OpenAPI</a>. <a href="/docs/running">What an operator does</a>.</p>
${calls.map(callEntry)}`,
  }
}

function callEntry({ name, method, path, role, summary, input, output }: DescribedCall): Markup {
  const fields = fieldsOf(input, { naming: false })
  return html`<section class="operation"><h2 id="${name}"><code>${name}</code>
<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h2>
<p class="route"><b class="method ${method}">${method}</b> <code>/operator/v1${path}</code></p>
<p>${summary} <span class="soft">Role: ${role}.</span></p>
${fields.length > 0 && fieldList(fields, { id: `${name}.in`, input: true })}
<details><summary>Fields of the answer</summary>
${fieldList(fieldsOf(output, { naming: true }), { id: `${name}.out`, input: false })}</details>
</section>`
}
