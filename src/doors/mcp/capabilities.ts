import type { Method, Tools } from './exchange.ts'
import { initialize } from './initialize.ts'
import { operation_tools } from './operation_tools.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listResourceTemplates, readResource } from './resources.ts'

/** The methods and tools of the MCP server. */
export type McpCapabilities = { methods: Readonly<Record<string, Method>>; tools: Tools }

export const default_capabilities: McpCapabilities = {
  methods: {
    initialize,
    ping: () => '{}',
    'resources/list': listResources,
    'resources/templates/list': listResourceTemplates,
    'resources/read': readResource,
    'prompts/list': listPrompts,
    'prompts/get': getPrompt,
  },
  tools: operation_tools,
}
