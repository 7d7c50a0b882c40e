import type { Method, Tools } from './exchange.ts'
import { initialize } from './initialize.ts'
import { operation_tools } from './operation_tools.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listResourceTemplates, readResource } from './resources.ts'

/** What is behind the door: methods, and tools, whose calls are answered on their own. */
export type Offer = { methods: Readonly<Record<string, Method>>; tools: Tools }

export const our_offer: Offer = {
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
