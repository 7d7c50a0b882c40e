import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { root } from '#platform/runtime/root.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const built = join(root, 'dist', 'panel')

/** What a page loads before anything is done: its script, and what that imports at once. */
function firstScripts(page: string): string[] {
  const html = readFileSync(join(built, page), 'utf8')
  return [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, name]) => String(name))
}

test('pages are served under a policy that admits nothing but our own files', async () => {
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
    assert.doesNotMatch(text, /<script(?![^>]* src="\/)[^>]*>|https?:\/\//, 'no script but ours')
  }
})

test('files with a hash in their name are kept for ever, and sent packed to those who can unpack', async () => {
  for (const name of readdirSync(join(built, 'assets'))) {
    const packed = await fetch(`${url}/assets/${name}`, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(packed.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    const plain = await fetch(`${url}/assets/${name}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(await packed.text(), await plain.text())
  }
})

test('an address that is no page stays unknown, as JSON, whoever asks', async () => {
  const headers = { accept: 'text/html' }
  for (const path of [
    '/nothing',
    '/v1/nothing',
    '/operator/v1/nothing',
    '/assets/none.js',
    '/oauth',
  ]) {
    const { status, body } = await send(url, 'GET', path, { headers })
    assert.deepEqual([status, body.error], [404, 'route_not_found'], path)
  }
})

test('the first page takes less than 250 KB of packed script', () => {
  for (const page of ['index.html', 'operator.html']) {
    const bytes = firstScripts(page).map((name) => gzipSync(readFileSync(join(built, name))).length)
    const total = bytes.reduce((sum, size) => sum + size, 0)
    assert(bytes.length > 0 && total < 250 * 1_024, `${page}: ${total} bytes`)
  }
})
