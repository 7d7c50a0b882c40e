import { default_scopes } from '#contract/scopes.ts'
import type { Settings } from '#platform/config.ts'
import { agentTools } from './agent_tools.ts'

/** What the agent-tool server says of itself, in the answer to initialize and in its card. */
export const MCP_VERSION = '0.4.0'
export const MCP_PROTOCOL = '2025-06-18'

export const mcp_capabilities = { tools: {}, resources: {}, prompts: {} }

export const mcp_instructions =
  'Florin is a card programme funded with USDT. Money goes deposit → balance → card → purchase. ' +
  'Start with get_limits and get_balance. Amounts are US dollars. Give every write an ' +
  'idempotency_key of its own and repeat it after a timeout. A refusal names its code in ' +
  '`error`; the resource florin://errors says what each one asks of you. What moves money out, ' +
  'reveals a card number or cannot be undone says so in its description: ask the person first.'

export const mcpServerInfo = ({ mode }: Settings) => ({
  name: 'florin',
  title: mode === 'sandbox' ? 'Florin (sandbox)' : 'Florin',
  version: MCP_VERSION,
})

/**
 * The server card (SEP-1649) as JSON text. It lists all tools, whoever may call them, so that an
 * agent can find out what to ask for.
 */
export function serverCard(settings: Settings): string {
  return JSON.stringify({
    $schema: 'https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json',
    // Of the format of the card, not of the server.
    version: '1.0',
    protocolVersion: MCP_PROTOCOL,
    serverInfo: mcpServerInfo(settings),
    description: 'A card programme funded with stablecoins, for people and AI agents.',
    documentationUrl: `${settings.public_url}/docs`,
    transport: { type: 'streamable-http', endpoint: '/mcp' },
    capabilities: mcp_capabilities,
    authentication: { required: true, schemes: ['bearer', 'oauth2'] },
    instructions: mcp_instructions,
    tools: agentTools(settings.x402),
    _meta: { 'florin/initial_scopes': default_scopes },
  })
}
