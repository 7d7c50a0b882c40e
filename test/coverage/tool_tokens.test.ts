import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentTool, agentTools } from '#doors/agent_tools.ts'
import { readSettings } from '#settings/settings.ts'
import { encode } from '#test/packages/gpt_tokenizer.ts'

const tools = agentTools(readSettings({}).x402)
const reads = tools.filter(({ annotations }) => annotations.readOnlyHint)

const tokensOf = (listed: readonly object[]) => encode(JSON.stringify({ tools: listed })).length
const withoutOutput = (listed: readonly AgentTool[]) =>
  listed.map(({ outputSchema: _left_out, ...tool }) => tool)

test('a model reads the list of all tools in 32,000 tokens, and of the read-only ones in 15,000', (t) => {
  const [all, read_only] = [tokensOf(tools), tokensOf(reads)]
  t.diagnostic(`${tools.length} tools ${all} tokens, ${reads.length} read-only ${read_only}`)
  assert(all <= 32_000, `${all} tokens`)
  assert(read_only <= 15_000, `${read_only} tokens`)
})

test('without output schemas it is 12,000 tokens, and 6,000 for the read-only tools', (t) => {
  const [all, read_only] = [tokensOf(withoutOutput(tools)), tokensOf(withoutOutput(reads))]
  t.diagnostic(`all tools ${all} tokens, read-only ${read_only}`)
  assert(all <= 12_000, `${all} tokens`)
  assert(read_only <= 6_000, `${read_only} tokens`)
})

test('every description of a tool is short and says something of its own', () => {
  for (const { name, description } of tools) {
    assert(description.length <= 600, `${name}: ${description.length} characters`)
  }
  assert.equal(new Set(tools.map(({ description }) => description)).size, tools.length)
})
