import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { bundleClient } from '#scripts/client_package/bundle.ts'
import { issueCard } from '#test/support/cards.ts'
import type { Walk } from '#test/support/client_walk.ts'
import { openBuyer } from '#test/support/disputes.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { NO_BROWSER, startBrowser } from '#test/support/panel_page.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { requireTool } from '#test/support/tools.ts'
import { subscribe } from '#test/support/webhooks.ts'

/** The packed client on every supported runtime; client.test.ts covers Node. */
const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const folder = await temporaryFolder()
after(folder.remove)
await bundleClient(join(folder.path, 'client.js'))
copyFileSync(join(root, 'dist/test/support/client_walk.js'), join(folder.path, 'walk.js'))
writeFileSync(join(folder.path, 'package.json'), '{"type": "module"}')

async function walkFor(platform: string): Promise<Walk> {
  const buyer = await openBuyer(service)
  const receiver = await startReceiver()
  const { secret } = await subscribe(
    url,
    { bearer: buyer.key },
    { url: receiver.url, events: ['card.issued'] },
  )
  await issueCard(url, buyer.key)
  const [received] = await receiver.waitFor(1)
  assert(received !== undefined)
  const headers = { 'Service-Signature': String(received.headers['service-signature']) }
  return {
    url,
    email: `${platform}@example.com`,
    buyer: { key: buyer.key, capture_id: buyer.capture.id },
    delivery: { body: received.body, headers, secret },
  }
}

const programOf = (given: Walk, tell: string) => `
import * as client from './client.js'
import { walk } from './walk.js'
const walked = await walk(client, ${JSON.stringify(given)})
${tell}(JSON.stringify(walked))
`

function assertWalked(printed: string, told = [13]): void {
  assert.deepEqual(JSON.parse(printed), {
    listed: [0, 1, 2],
    refusal: 'insufficient_balance',
    evidence: [['receipt.pdf', 13]],
    told,
    event: 'card.issued',
    forged: 'mismatch',
  })
}

const platforms = [
  // It may talk to the service and do nothing else.
  ['deno', ['run', '--no-prompt', '--no-remote', `--allow-net=${new URL(url).host}`]],
  ['bun', ['run']],
] as const

for (const [name, words] of platforms) {
  test(`the client walks in ${name}`, async (t) => {
    const binary = requireTool(name, t)
    if (binary === undefined) return
    const program = join(folder.path, `${name}.js`)
    writeFileSync(program, programOf(await walkFor(name), 'console.log'))
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)(binary, [...words, program], { env })
    assertWalked(stdout)
  })
}

test('the client walks in a browser', { skip: browser === null && NO_BROWSER }, async () => {
  assert(browser !== null)
  const page = await browser.newPage()
  const program = programOf(await walkFor('browser'), 'document.title = ')
  const html = `<!doctype html><link rel="icon" href="data:,">
<script type="module">${program}</script>`
  await page.route(`${url}/walk/*`, async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? ''
    const isScript = name.endsWith('.js')
    await route.fulfill({
      contentType: isScript ? 'text/javascript' : 'text/html',
      body: isScript ? readFileSync(join(folder.path, name), 'utf8') : html,
    })
  })
  await page.goto(`${url}/walk/index.html`)
  await page.waitForFunction('document.title !== ""')
  // A browser cannot stream a request over HTTP/1.1, so it reports no progress.
  assertWalked(await page.title(), [])
})
