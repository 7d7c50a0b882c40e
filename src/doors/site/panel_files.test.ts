import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { root } from '#platform/runtime/root.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const built = join(root, 'dist', 'browser')

/** The scripts that a page loads initially: its own and the preloaded imports. */
function initialScripts(page: string): string[] {
  const html = readFileSync(join(built, page), 'utf8')
  return [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, name]) => String(name))
}

test('the content security policy of pages allows only our own files', async () => {
  for (const path of [
    '/',
    '/cards',
    '/cards/card_1',
    '/sign_in',
    '/operator',
    '/operator/disputes',
  ]) {
    const { status, headers, text } = await send(url, 'GET', path)
    assert.equal(status, 200, path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.match(policy, /style-src 'self'(;|$)/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('cache-control'), 'no-cache')
    assert.doesNotMatch(text, /<script(?![^>]* src="\/)[^>]*>|https?:\/\//, 'only our own scripts')
  }
})

test('files with a hash in their name are cached permanently, and compressed if the client accepts gzip', async () => {
  for (const name of readdirSync(join(built, 'assets'))) {
    const gzipped = await fetch(`${url}/assets/${name}`, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(gzipped.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(gzipped.headers.get('content-encoding'), 'gzip')
    const plain = await fetch(`${url}/assets/${name}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(await gzipped.text(), await plain.text())
  }
})

test('an unknown path returns a JSON 404 to programs and a page to browsers', async () => {
  const in_browser = { accept: 'text/html' }
  for (const path of ['/nothing', '/assets/none.js']) {
    const { status, body } = await send(url, 'GET', path)
    assert.deepEqual([status, body.error], [404, 'route_not_found'], path)
    const page = await fetch(`${url}${path}`, { headers: in_browser })
    assert.equal(page.status, 404, path)
    assert.match(await page.text(), /<h1>Page not found<\/h1>/)
  }
  for (const path of ['/v1/nothing', '/operator/v1/nothing', '/oauth']) {
    const { status, body } = await send(url, 'GET', path, { headers: in_browser })
    assert.deepEqual([status, body.error], [404, 'route_not_found'], path)
  }
})

test('an unknown page of the console leads back to the console', async () => {
  const read = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { accept: 'text/html' } })).text()
  for (const path of ['/operator/nothing', '/operator/nothing?at=all']) {
    assert.match(await read(path), /<a href="\/operator">/, path)
  }
  for (const path of ['/nothing', '/operators']) {
    assert.match(await read(path), /<a href="\/">/, path)
  }
})

test('the initial scripts of a page are under 250 KB compressed', () => {
  for (const page of ['index.html', 'operator.html']) {
    const bytes = initialScripts(page).map(
      (name) => gzipSync(readFileSync(join(built, name))).length,
    )
    const total = bytes.reduce((sum, size) => sum + size, 0)
    assert(bytes.length > 0 && total < 250 * 1_024, `${page}: ${total} bytes`)
  }
})

test('every page of the panel is served by its first path segment', async () => {
  const routes = readFileSync(join(root, 'panel', 'routes.tsx'), 'utf8')
  const segments = [...routes.matchAll(/path: '\/(\w+)/g)].map(([, segment = '']) => segment)
  assert(segments.length > 5)
  for (const segment of new Set(segments)) {
    assert.equal((await send(url, 'GET', `/${segment}`)).status, 200, segment)
  }
})
