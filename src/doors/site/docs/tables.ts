import { event_types } from '#contract/events.ts'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { type ProblemCode, problem_statuses } from '#contract/problem.ts'
import { problem_meanings } from '#contract/problem_meanings.ts'
import { type Scope, scopes } from '#contract/scopes.ts'
import { html, type Markup } from '#doors/markup.ts'
import { problemCodesOf, status_meanings } from '#doors/site/openapi_responses.ts'
import { named_schemas } from '#doors/site/openapi_schemas.ts'
import { eventObjectOf } from '#doors/site/openapi_webhooks.ts'
import type { DocPage } from './doc_page.ts'
import { exampleOf } from './example_of.ts'
import { fieldList, fieldsOf } from './fields.ts'
import { codeBlock } from './markdown.ts'
import { inline } from './markdown_inline.ts'
import { operationHref } from './reference.ts'

const shapes: readonly OperationShape[] = Object.values(operations)

const links = (list: readonly OperationShape[]): Markup[] =>
  list.map((shape) => html`<a href="${operationHref(shape)}"><code>${shape.name}</code></a> `)

const code = (value: unknown) => codeBlock('json', JSON.stringify(value, null, 2))

const heading = (id: string) => html`<h2 id="${id}"><code>${id}</code>
<a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a></h2>`

/** What is said of the whole contract, each kind of thing on a page of its own. */
export function tablePages(): DocPage[] {
  return [objectsPage(), eventsPage(), errorsPage(), scopesPage()]
}

function objectsPage(): DocPage {
  const list = Object.entries(named_schemas).filter(([name]) => !name.endsWith('Page'))
  return {
    path: 'objects',
    title: 'Objects',
    group: 'API reference',
    anchors: list.map(([name]) => ({ id: name, title: name, kind: 'object' })),
    body: html`<h1>Objects</h1>
<p class="lead">What answers are made of. They may gain fields and enum values: tolerate what you
do not know. Lists answer with <code>data</code>, <code>next_cursor</code> and
<code>has_more</code>.</p>
${list.map(
  ([name, schema]) => html`<section class="operation">${heading(name)}
<p>${(schema as { description?: string }).description ?? ''}</p>
${fieldList(fieldsOf(schema, { naming: true }), { id: name, input: false })}
<details><summary>An example</summary>${code(exampleOf(schema))}</details></section>`,
)}`,
  }
}

function eventsPage(): DocPage {
  const types = Object.entries(event_types)
  return {
    path: 'events',
    title: 'Events',
    group: 'API reference',
    anchors: types.map(([id, words]) => ({ id, title: id, kind: 'event', words })),
    body: html`<h1>Events</h1>
<p class="lead">What a <a href="/docs/webhooks">webhook</a> can subscribe to. Each is sent as an
<a href="/docs/objects#EventBody">EventBody</a> whose <code>data.object</code> is the resource as
its GET shows it. <a href="/docs/live">As they happen</a>, they can be followed without a
webhook.</p>
${types.map(([type, meaning]) => eventEntry(type, meaning))}
<section class="operation">${heading('three_ds.challenge')}
<p>A purchase online waits for approval: answer it within five minutes. Only the subscription that
names this type gets it, and it is no event: it has no sequence and is not replayed.</p>
<p class="soft">Carries a <a href="/docs/objects#ThreeDsChallenge">ThreeDsChallenge</a>, and wants a
<a href="/docs/objects#ThreeDsDecision">ThreeDsDecision</a>.</p></section>`,
  }
}

function eventEntry(type: string, meaning: string): Markup {
  const object = eventObjectOf(type)
  const told_by = shapes.filter(({ emits }) => emits?.some((each) => each === type))
  return html`<section class="operation">${heading(type)}<p>${meaning}</p>
<p class="soft">Carries a <a href="/docs/objects#${object}">${object}</a>.${
    told_by.length > 0 && html` Told by ${links(told_by)}`
  }</p></section>`
}

function errorsPage(): DocPage {
  const codes = Object.keys(problem_statuses) as ProblemCode[]
  return {
    path: 'error-codes',
    title: 'Error codes',
    group: 'API reference',
    anchors: codes.map((id) => ({ id, title: id, kind: 'error', words: problem_meanings[id] })),
    body: html`<h1>Error codes</h1>
<p class="lead">Every answer that is not a success has the same body: <code>error</code> (one of
these), <code>message</code> (a sentence for a person), <code>request_id</code>, and where fields
are wrong <code>details</code>. <a href="/docs/errors">What to do with them</a>.</p>
${[...new Set(Object.values(problem_statuses))].map((status) => statusPart(status, codes))}`,
  }
}

function statusPart(status: number, codes: readonly ProblemCode[]): Markup {
  const here = codes.filter((each) => problem_statuses[each] === status)
  const meaning = status_meanings[status]
  return html`<h2 id="status-${status}">${status}
<a class="anchor" href="#status-${status}" aria-label="Link to ${status}">#</a></h2>
${meaning !== undefined && html`<p>${meaning}.</p>`}
<dl class="fields">${here.map((each) => {
    const answering = shapes.filter((shape) => (shape.problems ?? []).includes(each))
    const isCommon = shapes.filter((shape) => problemCodesOf(shape).includes(each)).length > 20
    return html`<div id="${each}"><dt><a class="name" href="#${each}"><code>${each}</code></a></dt>
<dd>${inline(problem_meanings[each], () => null)}${
      !isCommon && answering.length > 0 && html`<br><span class="soft">${links(answering)}</span>`
    }</dd></div>`
  })}</dl>`
}

function scopesPage(): DocPage {
  const names = Object.keys(scopes) as Scope[]
  return {
    path: 'scopes',
    title: 'Credentials and scopes',
    group: 'API reference',
    anchors: names.map((id) => ({ id, title: id, kind: 'heading', words: scopes[id] })),
    body: html`<h1>Credentials and scopes</h1>
<p class="lead">Every request carries <code>Authorization: Bearer …</code>, except
<code>create_account</code> and <code>sign_in</code>.</p>
<dl class="fields">
<div><dt>Session</dt><dd>From <code>create_account</code> or <code>sign_in</code>; 30 days. For
people.</dd></div>
<div><dt>API key</dt><dd><code>flk_live_…</code>, until revoked. For your own programs. It may do
all that a session may, except what would let it take over the account.</dd></div>
<div><dt>OAuth token</dt><dd>One hour, renewed by a refresh token. For <a href="/docs/agents">agents
and other people's programs</a>. It may do what its owner ticked: these scopes.</dd></div>
</dl>
${names.map(
  (scope) => html`<section class="operation">${heading(scope)}<p>${scopes[scope]}</p>
<p class="codes">${links(shapes.filter((shape) => opensTo(shape, scope)))}</p></section>`,
)}`,
  }
}

function opensTo({ access }: OperationShape, scope: Scope): boolean {
  if (access === 'anyone' || access.oauth === null) return false
  return 'any' in access.oauth ? access.oauth.any.includes(scope) : access.oauth.all.includes(scope)
}
