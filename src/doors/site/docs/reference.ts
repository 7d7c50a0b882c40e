import Type, { type TSchema } from 'typebox'
import { event_types } from '#contract/events.ts'
import { type OperationShape, pathNames, type Section } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { pageQuery } from '#contract/shapes.ts'
import { html, type Markup } from '#doors/markup.ts'
import { callersOf, section_descriptions } from '#doors/site/openapi.ts'
import { takesIdempotencyKey } from '#doors/site/openapi_requests.ts'
import { problemCodesOf } from '#doors/site/openapi_responses.ts'
import { schemaNameOf } from '#doors/site/openapi_schemas.ts'
import { callExamples } from './call_examples.ts'
import type { Anchor, DocPage } from './doc_page.ts'
import { exampleOf } from './example_of.ts'
import { type Field, fieldList, fieldsOf } from './fields.ts'
import { codeBlock, renderInline, slugOf } from './markdown.ts'

const shapes: readonly OperationShape[] = Object.values(operations)

export const sectionPath = (section: string): string => `api/${slugOf(section)}`

export const operationHref = ({ section, name }: OperationShape): string =>
  `/docs/${sectionPath(section)}#${name}`

/** All operations, one page per section of the specification. */
export function referencePages(base: string): DocPage[] {
  return (Object.keys(section_descriptions) as Section[]).map((section) => {
    const here = byResource(shapes.filter((shape) => shape.section === section))
    return {
      path: sectionPath(section),
      title: section,
      group: 'API reference',
      anchors: here.flatMap(anchorsOf),
      body: html`<h1>${section}</h1>
<p class="lead">${section_descriptions[section]}</p>
${operationTable(here)}
${here.map((shape) => operationEntry(shape, base))}`,
    }
  })
}

/** Keeps operations of one resource together, in the order in which resources come first. */
function byResource(list: readonly OperationShape[]): OperationShape[] {
  const resourceOf = ({ path }: OperationShape) => path.split('/')[1]
  const resources = list.map(resourceOf)
  return list.toSorted(
    (a, b) => resources.indexOf(resourceOf(a)) - resources.indexOf(resourceOf(b)),
  )
}

function anchorsOf(shape: OperationShape): Anchor[] {
  const { name, summary, method, path } = shape
  const words = `${summary} ${method} /v1${path}`
  const fields = inputFields(shape).map(
    (field): Anchor => ({
      id: `${name}.in.${field.name}`,
      title: `${field.name} of ${name}`,
      kind: 'field',
      words: field.description,
    }),
  )
  return [{ id: name, title: name, kind: 'operation', words }, ...fields]
}

export function operationTable(list: readonly OperationShape[]): Markup {
  return html`<ul class="routes">${list.map(
    (shape) => html`<li><a href="${operationHref(shape)}"><code>${shape.name}</code></a>
<span class="route"><b class="method ${shape.method}">${shape.method}</b>
<code>/v1${shape.path}</code></span>
<span class="soft">${shape.summary}</span></li>`,
  )}</ul>`
}

export const paging: readonly string[] = Object.keys(pageQuery)

/** Without the paging parameters, which each list shows in a collapsed section. */
function inputFields({ input }: OperationShape): Field[] {
  return fieldsOf(input, { link_objects: false, leave_out: isList(input) ? paging : [] })
}

export const isList = ({ properties }: OperationShape['input']) => 'cursor' in properties

export function pagingSection({ name }: Pick<OperationShape, 'name'>): Markup {
  const fields = fieldsOf(Type.Object(pageQuery), { link_objects: false })
  return html`<details><summary>Paging: ${paging.join(', ')}</summary>
${fieldList(fields, { id: `${name}.paging`, input: true })}</details>`
}

function operationEntry(shape: OperationShape, base: string): Markup {
  const { name, method, path, summary, description, emits } = shape
  return html`<section class="operation" aria-labelledby="${name}"><div class="about">
<h2 id="${name}"><code>${name}</code>
<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h2>
<p class="route"><b class="method ${method}">${method}</b> <code>/v1${path}</code></p>
<p><strong>${summary}</strong> ${renderInline(withCode(description))}</p>
<p class="soft">Credentials: ${callersOf(shape.access)}.${variantNote(shape)}</p>
${
  emits !== undefined &&
  html`<p class="soft">Events: ${emits.map(
    (type, at) => html`${at > 0 && ', '}<a href="/docs/events#${type}"><code>${type}</code></a>`,
  )}.</p>`
}
${inputSection(shape)}
${responseSection(shape)}
${errorSection(shape)}
</div><div class="beside"><h3>Example</h3>
${callExamples(shape, { base })}
</div></section>`
}

const names = [...shapes.map(({ name }) => name), ...Object.keys(event_types)].map((name) =>
  name.replace('.', '[.]'),
)
const NAME = new RegExp(`(?<![\\w.\`])(?:${names.join('|')})(?![\\w\`])`, 'g')

/** Tools read descriptions as plain text; readers of a page tell names from words by their look. */
const withCode = (description: string): string => description.replaceAll(NAME, '`$&`')

function variantNote({ variant_of, input }: OperationShape): string {
  if (variant_of === undefined) return ''
  const { required = [] } = input as { required?: string[] }
  return ` The same route as ${variant_of}, with ${required.join(', ')}.`
}

function inputSection(shape: OperationShape): Markup {
  const fields = inputFields(shape)
  const headers = Object.entries(shape.headers ?? {})
  const in_path = pathNames(shape.path)
  const isNone =
    Object.keys(shape.input.properties).length === 0 &&
    headers.length === 0 &&
    !takesIdempotencyKey(shape)
  if (isNone) return html`<h3>Input</h3><p class="soft">None.</p>`
  return html`<h3>Input</h3>
${
  in_path.length > 0 &&
  html`<p class="soft">In the path: ${in_path.map((each) => html`<code>${each}</code> `)}</p>`
}
${fields.length > 0 && fieldList(fields, { id: `${shape.name}.in`, input: true })}
${isList(shape.input) && pagingSection(shape)}
${headers.map(([name, text]) => html`<p class="soft">Header <code>${name}</code>: ${text}</p>`)}
${
  takesIdempotencyKey(shape) &&
  html`<p class="soft">Header <a href="/docs/idempotency"><code>Idempotency-Key</code></a>: ${
    shape.never_stored === true
      ? 'accepted, but the response is not stored.'
      : 'makes retries safe.'
  }</p>`
}`
}

function responseSection({ name, status, output }: OperationShape): Markup {
  if (status === 204) return html`<h3>Response</h3><p><code>204</code>, no body.</p>`
  return html`<h3>Response</h3>
<p><code>${status}</code>${responseTypeLink(output)}</p>
<details><summary>Response fields</summary>
${fieldList(fieldsOf(output, { link_objects: true }), { id: `${name}.out`, input: false })}
</details>
<details><summary>Example response</summary>
${codeBlock('json', JSON.stringify(exampleOf(output), null, 2))}
</details>`
}

/** Links to the object, or for a list to the object it lists. */
function responseTypeLink(output: TSchema): Markup | null {
  const rows = (output as { properties?: { data?: { items?: TSchema } } }).properties?.data?.items
  const name = schemaNameOf(rows ?? output)
  if (name === undefined) return null
  const link = html`<a href="/docs/objects#${name}">${name}</a>`
  return rows === undefined ? html`: ${link}` : html`: a page of ${link}`
}

function errorSection(shape: OperationShape): Markup {
  return html`<details><summary>Errors</summary>
<p class="codes">${problemCodesOf(shape).map(
    (code) => html`<a href="/docs/error-codes#${code}"><code>${code}</code></a> `,
  )}</p></details>`
}
