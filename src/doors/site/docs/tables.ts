import { event_types, named_event_types } from '#contract/events.ts'
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
import { codeBlock, renderInline } from './markdown.ts'
import { operationHref } from './reference.ts'

const shapes: readonly OperationShape[] = Object.values(operations)

const links = (list: readonly OperationShape[]): Markup[] =>
  list.map(
    (shape, at) =>
      html`${at > 0 && ', '}<a href="${operationHref(shape)}"><code>${shape.name}</code></a>`,
  )

const code = (value: unknown) => codeBlock('json', JSON.stringify(value, null, 2))

const heading = (id: string) => html`<h2 id="${id}"><code>${id}</code>
<a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a></h2>`

/** Pages that list all objects, events, error codes and scopes. */
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
<p class="lead">The objects in responses. They can gain fields and enum values: ignore those you do
not know. Lists return <code>data</code>, <code>next_cursor</code> and
<code>has_more</code>.</p>
${list.map(
  ([name, schema]) => html`<section class="operation">${heading(name)}
<p>${(schema as { description?: string }).description ?? ''}</p>
${fieldList(fieldsOf(schema, { link_objects: true }), { id: name, input: false })}
<details><summary>Example</summary>${code(exampleOf(schema))}</details></section>`,
)}`,
  }
}

function eventsPage(): DocPage {
  const types = Object.entries({ ...event_types, ...named_event_types })
  return {
    path: 'events',
    title: 'Events',
    group: 'API reference',
    anchors: types.map(([id, words]) => ({ id, title: id, kind: 'event', words })),
    body: html`<h1>Events</h1>
<p class="lead">A <a href="/docs/webhooks">webhook</a> can subscribe to these events. Each is sent
as an <a href="/docs/objects#EventBody">EventBody</a> whose <code>data.object</code> is the resource
as its GET returns it. The <a href="/docs/live">activity stream</a> delivers them without a
webhook.</p>
${types.map(([type, meaning]) => eventEntry(type, meaning))}
<p class="soft"><code>*</code> subscribes to all of these but <code>approval.requested</code> and
<code>approval.decided</code>: a webhook must name those, and they have no sequence number.</p>
<section class="operation">${heading('three_ds.challenge')}
<p>An online purchase is waiting for approval: respond within five minutes. It is sent only to the
subscription that names this type. It is not an event: it has no sequence and is not replayed.</p>
<p class="soft">Contains a <a href="/docs/objects#ThreeDsChallenge">ThreeDsChallenge</a>; respond
with a <a href="/docs/objects#ThreeDsDecision">ThreeDsDecision</a>.</p></section>`,
  }
}

function eventEntry(type: string, meaning: string): Markup {
  const object = eventObjectOf(type)
  const emitted_by = shapes.filter(({ emits }) => emits?.some((each) => each === type))
  return html`<section class="operation">${heading(type)}<p>${meaning}</p>
<p class="soft">Contains ${/^[AEIOU]/.test(object) ? 'an' : 'a'} <a
href="/docs/objects#${object}">${object}</a>.${
    emitted_by.length > 0 && html` Emitted by ${links(emitted_by)}.`
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
<p class="lead">Every error response has the same body: <code>error</code> (one of these codes),
<code>message</code> (a sentence for people), <code>request_id</code>, and <code>details</code> if
fields are invalid. See <a href="/docs/errors">Errors</a> for how to handle them.</p>
${[...new Set(Object.values(problem_statuses))].map((status) => statusSection(status, codes))}`,
  }
}

function statusSection(status: number, codes: readonly ProblemCode[]): Markup {
  const here = codes.filter((each) => problem_statuses[each] === status)
  const meaning = status_meanings[status]
  return html`<h2 id="status-${status}">${status}
<a class="anchor" href="#status-${status}" aria-label="Link to ${status}">#</a></h2>
${meaning !== undefined && html`<p>${meaning}.</p>`}
<dl class="fields">${here.map((each) => {
    const returned_by = shapes.filter((shape) => (shape.problems ?? []).includes(each))
    const isCommon = shapes.filter((shape) => problemCodesOf(shape).includes(each)).length > 20
    return html`<div id="${each}"><dt><a class="name" href="#${each}"><code>${each}</code></a></dt>
<dd>${renderInline(problem_meanings[each])}${
      !isCommon &&
      returned_by.length > 0 &&
      html`<br><span class="soft">Returned by ${links(returned_by)}.</span>`
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
<p class="lead">Every request needs <code>Authorization: Bearer …</code>, except these:</p>
<p class="codes">${links(shapes.filter(({ access }) => access === 'anyone'))}</p>
<dl class="fields">
<div><dt>Session</dt><dd>From <code>create_account</code> or <code>sign_in</code>; 30 days. For
people.</dd></div>
<div><dt>API key</dt><dd><code>flk_live_…</code>, in the sandbox <code>flk_test_…</code>, until
revoked. For your own programs. It can do everything a session can, except change the email,
password or two-factor authentication.</dd></div>
<div><dt>OAuth token</dt><dd>One hour, renewed with a refresh token. For <a
href="/docs/agents">agents and third-party apps</a>. It has the scopes that the account owner
granted.</dd></div>
</dl>
${names.map(
  (scope) => html`<section class="operation">${heading(scope)}<p>${scopes[scope]}</p>
<p class="codes">${links(shapes.filter((shape) => isGrantedBy(shape, scope)))}</p></section>`,
)}`,
  }
}

function isGrantedBy({ access }: OperationShape, scope: Scope): boolean {
  if (access === 'anyone' || access.oauth === null) return false
  return 'any' in access.oauth ? access.oauth.any.includes(scope) : access.oauth.all.includes(scope)
}
