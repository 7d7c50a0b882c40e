import { default_capabilities, type McpCapabilities } from '#doors/mcp/capabilities.ts'
import type { Tools } from '#doors/mcp/exchange.ts'

/**
 * Tools, prompts and resources that the suite requires, served through our door beside our own.
 * They are not part of the service.
 */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const text = (words: string) => ({ type: 'text', text: words })
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const embedded = (uri: string) => ({
  type: 'resource',
  resource: { uri, mimeType: 'text/plain', text: 'Embedded for the suite.' },
})

const tool_results: Readonly<Record<string, object>> = {
  test_simple_text: { content: [text('A simple text.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [embedded('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [text('Several types.'), image, embedded('test://mixed-content-resource')],
  },
  test_error_handling: { content: [text('It fails, as it is asked to.')], isError: true },
  test_tool_with_progress: { content: [text('Done, and progress was told.')] },
  json_schema_2020_12_tool: { content: [text('Its schema is what matters.')] },
}

const schema_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

const shown_tools = Object.keys(tool_results).map((name) => ({
  name,
  description: 'A fixture of the conformance suite.',
  inputSchema:
    name === 'json_schema_2020_12_tool' ? schema_2020_12 : { type: 'object', properties: {} },
}))

const isFixture = (name: string) => Object.hasOwn(tool_results, name)
const ours = default_capabilities.tools

const tools: Tools = {
  ...ours,
  list: (runtime, caller) =>
    JSON.stringify({ tools: [...JSON.parse(ours.list(runtime, caller)).tools, ...shown_tools] }),
  has: (name) => isFixture(name) || ours.has(name),
  isOpen: (name) => !isFixture(name) && ours.isOpen(name),
  isAllowed: (call, caller) =>
    isFixture(call.name) ? caller !== null : ours.isAllowed(call, caller),
  run: async (exchange, call, onStart = () => undefined) => {
    if (!isFixture(call.name)) return ours.run(exchange, call, onStart)
    onStart()
    return { status: 200, problem_code: null, headers: {}, body: '' }
  },
  resultOf: (call, answer) =>
    isFixture(call.name) ? JSON.stringify(tool_results[call.name]) : ours.resultOf(call, answer),
}

const resources: Readonly<Record<string, object>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'A text that never changes.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://template/123/data': { mimeType: 'application/json', text: '{"id":"123"}' },
}

type ToolInput = Readonly<Record<string, unknown>>
const user = (content: object) => ({ role: 'user', content })
const prompts: Readonly<Record<string, (given: ToolInput) => object[]>> = {
  test_simple_prompt: () => [user(text('A simple prompt.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    user(text(`With arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [user(embedded(String(resourceUri)))],
  test_prompt_with_image: () => [user(image), user(text('What does it show?'))],
}

export const capabilities_with_fixtures: McpCapabilities = {
  methods: {
    ...default_capabilities.methods,
    'resources/read': async (exchange, params, caller) => {
      const uri = String(params['uri'])
      const known = Object.hasOwn(resources, uri) ? resources[uri] : undefined
      if (known !== undefined) return JSON.stringify({ contents: [{ uri, ...known }] })
      return (
        (await default_capabilities.methods['resources/read']?.(exchange, params, caller)) ?? ''
      )
    },
    'prompts/get': async (exchange, params, caller) => {
      const name = String(params['name'])
      const made = Object.hasOwn(prompts, name) ? prompts[name] : undefined
      const given = (params['arguments'] ?? {}) as ToolInput
      if (made !== undefined) return JSON.stringify({ messages: made(given) })
      return (await default_capabilities.methods['prompts/get']?.(exchange, params, caller)) ?? ''
    },
  },
  tools,
}
