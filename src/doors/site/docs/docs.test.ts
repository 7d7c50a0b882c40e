import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Script } from 'node:vm'
import { parse } from 'yaml'
import { flagsOf } from '#cli/calls/flags.ts'
import { event_types, named_event_types } from '#contract/events.ts'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { movements } from '#domain/ledger/movements.ts'
import { html } from '#doors/markup.ts'
import { root } from '#platform/runtime/root.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'
import { examplesOf } from './call_examples.ts'
import { hrefOf } from './doc_page.ts'
import { docPages } from './doc_pages.ts'
import { guide_groups } from './guides.ts'
import { highlight } from './highlight.ts'
import { renderMarkdown } from './markdown.ts'
import { type SearchResult, search, searchIndex } from './search.ts'

const { url } = await startTestService()
const pages = docPages({ public_url: url })
const texts = new Map<string, string>()
for (const page of pages) {
  const { status, text } = await send(url, 'GET', hrefOf(page))
  assert.equal(status, 200, hrefOf(page))
  texts.set(hrefOf(page), text)
}
const whole = [...texts.values()].join('\n')

const hasPython = spawnSync('python3', ['--version']).status === 0
const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

test('every operation is documented with path, access, examples and errors', () => {
  for (const shape of Object.values(operations)) {
    const [entry = ''] =
      new RegExp(
        `<section class="operation" aria-labelledby="${shape.name}">.*?</section>`,
        's',
      ).exec(whole) ?? []
    assert.ok(entry.includes(`/v1${shape.path}`), shape.name)
    for (const part of [
      'Credentials: ',
      '>curl<',
      '>florin<',
      `client.${shape.name}(`,
      'tools/call',
    ]) {
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
    ...Object.keys({ ...event_types, ...named_event_types }).map((id) => ['/docs/events', id]),
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

const textOf = (found?: SearchResult) => (found?.excerpt ?? []).map(({ text }) => text).join('')
const matchesOf = (found?: SearchResult) =>
  (found?.excerpt ?? []).filter(({ is_match }) => is_match).map(({ text }) => text)

test('search reads the whole text of the guides and shows where it matches', () => {
  const index = searchIndex(pages)
  const questions: Record<string, string> = {
    'verify webhook': '/docs/verify_webhooks',
    'verifying webhooks': '/docs/verify_webhooks',
    'limit agent': '/docs/agents#limit-an-agent-to-one-card-and-20-a-day',
    'two nodes': '/docs/launch#8-two-nodes',
    pg_restore: '/docs/backup#restore-postgresql',
    proxy_buffering: '/docs/launch#7-proxy',
  }
  for (const [query, href] of Object.entries(questions)) {
    const results = search(index, query, 3)
    assert.equal(results[0]?.href, href, `${query}: ${results.map((each) => each.href)}`)
  }
  const [found] = search(index, 'proxy_buffering', 1)
  assert.equal(matchesOf(found).join(), 'proxy_buffering')
})

test('a short word matches only at the start of a word', () => {
  const page = { path: 'x', group: 'Guides', anchors: [], body: html`` } as const
  const index = searchIndex(['Networks', 'Two nodes'].map((title) => ({ ...page, title })))
  const titlesFor = (query: string) => search(index, query, 3).map(({ title }) => title)
  assert.deepEqual(titlesFor('two'), ['Two nodes'])
  assert.deepEqual(titlesFor('work'), ['Networks'])
})

test('an excerpt is from the passage with the words, marks them, and ends with a word', () => {
  const text = [
    'Nodes come first.',
    `Nodes. ${'Before it. '.repeat(20)}Start two Nodes behind networks.${' After it.'.repeat(20)}`,
    'export NODES=2',
  ].join('\n')
  const page = { path: 'x', group: 'Guides', anchors: [], body: html``, title: 'X', text } as const
  const [found] = search(searchIndex([page]), 'two nodes', 1)
  assert.match(textOf(found), /^…it[.] .*Start two Nodes behind networks[.].*[^\s.,]…$/)
  assert.deepEqual(matchesOf(found), ['two', 'Nodes'], 'not the "two" inside "networks"')
})

test('an operator call is found by its summary, and its excerpt is that sentence', () => {
  const [found] = search(searchIndex(pages), 'refund_deposit', 1)
  assert.equal(found?.title, 'refund_deposit')
  const [held] = search(searchIndex(pages), 'held deposit sender', 1)
  assert.equal(textOf(held), 'Send a held deposit back to its sender.')
})

test('commands to paste name the address of this service', () => {
  const served = docPages({ public_url: 'https://cards.example.com' })
  for (const path of ['quickstart', 'agents']) {
    const page = served.find((each) => each.path === path)
    const text = String(page?.body.text).replaceAll(/<[^>]*>/g, '')
    assert.match(text, /export FLORIN_URL=https:\/\/cards\.example\.com\s/)
    assert.doesNotMatch(text, /127\.0\.0\.1:8080|\{public_url\}/, path)
  }
})

test('rows of a table and lines of code are passages of their own, and code comes last', () => {
  const source =
    '# T\n\n```\ne\nf\n```\n\nA paragraph\nof two lines.\n\n| a | b |\n|---|---|\n| c | d |\n'
  const [heading] = renderMarkdown(source, () => null).headings
  assert.deepEqual(heading?.section.trim().split('\n'), [
    'A paragraph of two lines.',
    'a · b',
    'c · d',
    'e',
    'f',
  ])
})

test('an unknown page keeps the search and the navigation', async () => {
  const page = await fetch(`${url}/docs/nothing`, { headers: { accept: 'text/html' } })
  assert.equal(page.status, 404)
  const text = await page.text()
  for (const part of ['<h1>Page not found</h1>', 'role="search"', 'href="/docs/quickstart"']) {
    assert.ok(text.includes(part), part)
  }
  const { status, body } = await send(url, 'GET', '/docs/nothing')
  assert.deepEqual([status, body.error], [404, 'route_not_found'])
})

test('a search without results says so and links to all pages', async () => {
  const { text } = await send(url, 'GET', '/docs/search?q=zzzz')
  assert.match(text, /<h1>No results for “zzzz”<\/h1><p>.*<a href="\/docs">all pages<\/a>/)
})

test('examples of the command line use flags that exist', () => {
  for (const shape of Object.values<OperationShape>(operations)) {
    const flags = flagsOf(shape.input)
    const example = examplesOf(shape, url).find(([title]) => title === 'CLI')?.[2] ?? ''
    for (const [, name = ''] of example.matchAll(/ --([\w.]+) /g)) {
      const isKnown = flags.some(
        (flag) =>
          flag.name === name || (flag.kind === 'object' && name.startsWith(`${flag.name}.`)),
      )
      assert.ok(isKnown, `${shape.name}: --${name}`)
    }
  }
})

test('Python examples compile', { skip: !hasPython && 'python3 is not installed' }, () => {
  const programs = Object.values<OperationShape>(operations).map(
    (shape) => examplesOf(shape, url).find(([title]) => title === 'Python')?.[2] ?? '',
  )
  const check = 'import ast, json, sys\nfor program in json.load(sys.stdin): ast.parse(program)'
  const input = JSON.stringify(programs)
  const { status, stderr } = spawnSync('python3', ['-c', check], { input, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

test('code is highlighted and keeps its text', () => {
  const text = 'curl "$URL" # a <comment>\nfor x in 12; do'
  const marked = highlight('sh', text).text
  assert.match(marked, /<span class="keyword">curl<\/span> <span class="string">/)
  assert.match(marked, /<span class="comment"># a &#60;comment&#62;<\/span>/)
  const plain = marked
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  assert.equal(plain, text)
  assert.equal(highlight('text', 'a < b').text, 'a &#60; b')
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

test('every metric that an alert rule or a dashboard uses exists', async () => {
  const folder = join(root, 'packaging/observability')
  const rules = parse(readFileSync(join(folder, 'alerts.yml'), 'utf8')).groups[0].rules
  const { panels } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
  const expressions: string[] = [
    ...rules.map(({ expr }: { expr: string }) => expr),
    ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    ),
  ]
  assert.ok(expressions.every((each) => typeof each === 'string'))
  const { text } = await send(url, 'GET', '/metrics')
  const used = expressions.flatMap((each) => [...each.matchAll(/florin_[a-z0-9_]+/g)])
  const names = used.map(([name]) => name)
  const exists = (name: string) => text.includes(`# TYPE ${name.replace(/_(bucket|count)$/, '')} `)
  assert.deepEqual(
    names.filter((name) => !exists(name)),
    [],
  )
  assert.ok(names.length > 20)
})

test('every movement is in the table of docs/money.md', () => {
  const money = readFileSync(join(root, 'docs', 'money.md'), 'utf8')
  const missing = Object.keys(movements).filter((name) => !money.includes(`\`${name}\``))
  assert.deepEqual(missing, [])
})
