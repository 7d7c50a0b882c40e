import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHolder } from '#test/support/cards.ts'
import { KEY_TOOL_COUNT } from '#test/support/mcp.ts'
import { startTestService } from '#test/support/start.ts'
import { inspector, runSuite } from './suite.ts'

const service = await startTestService()
const { key } = await openHolder(service, 12.5)

async function inspect(...args: string[]): Promise<Record<string, unknown>> {
  const { code, text, stdout } = await runSuite(inspector, [
    ...['--cli', `${service.url}/mcp`, '--transport', 'http'],
    ...['--header', `Authorization: Bearer ${key}`, ...args],
  ])
  assert.equal(code, 0, text)
  return JSON.parse(stdout)
}

test("the inspector's command line lists the tools of a key and calls one", async () => {
  const { tools } = await inspect('--method', 'tools/list')
  assert.equal((tools as unknown[]).length, KEY_TOOL_COUNT)
  const called = await inspect('--method', 'tools/call', '--tool-name', 'get_balance')
  assert.equal((called['structuredContent'] as { balance_usd: number }).balance_usd, 12.5)
})
