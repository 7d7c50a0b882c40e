import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { mountMcp } from '#doors/mcp/server.ts'
import { makeHttpServer } from '#main/http.ts'
import { openHolder } from '#test/support/cards.ts'
import { startTestService } from '#test/support/start.ts'
import { startBearerProxy } from './bearer_proxy.ts'
import { capabilities_with_fixtures } from './fixtures.ts'
import { runSuite, server_suite } from './suite.ts'

const service = await startTestService()
const { key } = await openHolder(service)

/** The unchanged door, with the fixtures that the suite requires. */
const app = makeHttpServer(service.runtime)
mountMcp(app, service.runtime, capabilities_with_fixtures)
await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const { port } = app.server.address() as AddressInfo
const url = `${await startBearerProxy(port, key)}/mcp`

const folder = mkdtempSync(join(tmpdir(), 'florin_baseline_'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Each is about a capability that we do not declare; the suite complains if one begins to pass. */
const UNDECLARED = [
  'logging-set-level',
  'completion-complete',
  'tools-call-with-logging',
  'tools-call-sampling',
  'tools-call-elicitation',
  'resources-subscribe',
  'resources-unsubscribe',
]

test('the official suite finds nothing wrong with the tool server', async (t) => {
  const baseline = join(folder, 'expected_failures.yml')
  writeFileSync(baseline, `server:\n${UNDECLARED.map((name) => `  - ${name}\n`).join('')}`)
  const { code, text } = await runSuite(server_suite, [
    ...['server', '--url', url, '--suite', 'all', '--spec-version', '2025-06-18'],
    ...['--expected-failures', baseline],
  ])
  assert.equal(code, 0, text)
  t.diagnostic(text.trim().split('\n').slice(-12).join('\n'))
})

for (const scenario of ['json-schema-2020-12', 'dns-rebinding-protection']) {
  test(`the official suite's scenario ${scenario} passes`, async () => {
    const { code, text } = await runSuite(server_suite, [
      ...['server', '--url', url, '--scenario', scenario],
    ])
    assert.equal(code, 0, text)
  })
}
