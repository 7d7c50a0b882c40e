import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Script } from 'node:vm'
import { event_types } from '#contract/events.ts'
import { operations } from '#contract/operations.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { movements } from '#domain/ledger/movements.ts'
import { root } from '#platform/runtime/root.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'
import { hrefOf } from './doc_page.ts'
import { docPages } from './doc_pages.ts'
import { guide_groups } from './guides.ts'
import { search, searchIndex } from './search.ts'

const { url } = await startTestService()
const pages = docPages({ public_url: url })
const texts = new Map<string, string>()
for (const page of pages) {
  const { status, text } = await send(url, 'GET', hrefOf(page))
  assert.equal(status, 200, hrefOf(page))
  texts.set(hrefOf(page), text)
}
const whole = [...texts.values()].join('\n')

const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

test('every operation is documented with path, access, examples and errors', () => {
  for (const shape of Object.values(operations)) {
    const [entry = ''] =
      new RegExp(
        `<section class="operation" aria-labelledby="${shape.name}">.*?</section>`,
        's',
      ).exec(whole) ?? []
    assert.ok(entry.includes(`/v1${shape.path}`), shape.name)
    for (const part of ['Credentials: ', 'curl ', `client.${shape.name}(`, 'tools/call']) {
      assert.ok(entry.includes(part), `${shape.name} has no ${part}`)
    }
    for (const field of Object.keys(shape.input.properties)) {
      assert.ok(entry.includes(`<code>${field}</code>`), `${shape.name}.${field}`)
    }
    assert.ok(entry.includes('/docs/error-codes#invalid_request'), shape.name)
  }
})

test('every event, error code and operator call has an entry', () => {
  const entries = [
    ...Object.keys(event_types).map((id) => ['/docs/events', id]),
    ...Object.keys(problem_statuses).map((id) => ['/docs/error-codes', id]),
    ...Object.keys(operator_operations).map((id) => ['/docs/operator', id]),
  ]
  for (const [page = '', id = ''] of entries) {
    assert.ok(idsOf(texts.get(page) ?? '').includes(id), `${page}#${id}`)
  }
})

test('every document in docs/ is a page', () => {
  const files = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const listed = Object.values(guide_groups)
    .flat()
    .map((name) => `${name}.md`)
  assert.deepEqual(listed.toSorted(), files.toSorted())
})

test('every internal link resolves, and element IDs are unique on a page', () => {
  for (const [page, text] of texts) {
    const ids = idsOf(text)
    assert.equal(new Set(ids).size, ids.length, page)
    for (const [, href = ''] of text.matchAll(/href="([^"]+)"/g)) {
      const [path = '', anchor] = href.split('#')
      if (/^(https?:|mailto:)/.test(path)) continue
      const target = path === '' ? text : texts.get(path)
      if (path !== '' && !/^\/docs(\/|$)/.test(path)) continue
      if (/^\/docs\/(style\.css|script\.js|icon\.svg)/.test(path)) continue
      assert.ok(target !== undefined, `${page} links to ${href}`)
      if (anchor !== undefined && anchor !== 'content') {
        assert.ok(idsOf(target).includes(anchor), `${page} links to ${href}`)
      }
    }
  }
})

test('pages load nothing from other hosts, and only our own script may run', async () => {
  for (const [page, text] of texts) {
    assert.doesNotMatch(text, /(?:src|srcset|data)="(?!\/docs\/)|@import|style="| on\w+="/, page)
    const outside = [...text.matchAll(/<(?:link|script|img|form)[^>]*="(https?:)?\/\//g)]
    assert.deepEqual(outside, [], page)
  }
  const { headers } = await send(url, 'GET', '/docs')
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
})

test('style, script and icon are served, and the script parses', async () => {
  const [, style = ''] = /href="(\/docs\/style[^"]+)"/.exec(whole) ?? []
  const [, script = ''] = /src="(\/docs\/script[^"]+)"/.exec(whole) ?? []
  for (const address of [style, script, '/docs/icon.svg']) {
    const { status, headers } = await send(url, 'GET', address)
    assert.equal(status, 200, address)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
  assert.ok(new Script((await send(url, 'GET', script)).text))
})

test('search ranks names above descriptions and finds nothing for nonsense', () => {
  const index = searchIndex(pages)
  const first = (query: string) => search(index, query, 12)[0]?.title
  assert.equal(first('issue_card'), 'issue_card')
  assert.equal(first('freeze'), 'freeze_card')
  assert.equal(first('topup.confirmed'), 'topup.confirmed')
  assert.equal(first('rate_limited'), 'rate_limited')
  assert.equal(first('daily_usd set_card'), 'daily_usd of set_card_limits')
  assert.equal(first('webhooks'), 'Webhooks')
  assert.deepEqual(search(index, 'zzzz', 12), [])
  assert.deepEqual(search(index, '   ', 12), [])
})

test('search also works as a page and escapes the query', async () => {
  const query = '<script>alert(1)</script>'
  const { status, text } = await send(url, 'GET', `/docs/search?q=${encodeURIComponent(query)}`)
  assert.equal(status, 200)
  assert.ok(!text.includes(query))
  const found = await send(url, 'GET', '/docs/search?q=freeze_card')
  assert.match(found.text, /<li><a href="\/docs\/api\/cards#freeze_card">/)
  const json = await send(url, 'GET', '/docs/search.json?q=freeze_card&q=twice')
  assert.deepEqual(json.body, [])
})

test('every metric that an alert rule in the docs uses exists', async () => {
  const rules = readFileSync(join(root, 'docs', 'going_live.md'), 'utf8')
  const { text } = await send(url, 'GET', '/metrics')
  const used = [...rules.matchAll(/florin_[a-z0-9_]+/g)].map(([name]) => name)
  const exists = (name: string) => text.includes(`# TYPE ${name.replace(/_bucket$/, '')} `)
  assert.deepEqual(
    used.filter((name) => !exists(name)),
    [],
  )
  assert.ok(used.length > 5)
})

test('every movement is in the table of docs/money.md', () => {
  const money = readFileSync(join(root, 'docs', 'money.md'), 'utf8')
  const missing = Object.keys(movements).filter((name) => !money.includes(`\`${name}\``))
  assert.deepEqual(missing, [])
})
