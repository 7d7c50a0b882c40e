import { default_scopes } from '#contract/scopes.ts'
import type { Settings } from '#settings/settings.ts'
import { agentTools, credentialFor } from './agent_tools.ts'

/** Description of the MCP server, in the response to initialize and in its server card. */
const MCP_VERSION = '0.4.0'
export const MCP_PROTOCOL = '2025-06-18'

export const mcp_capabilities = { tools: {}, resources: {}, prompts: {} }

export const mcp_instructions =
  'Florin issues payment cards funded with USDT. Money flows deposit → balance → card → ' +
  'purchase. Start with get_limits and get_balance. Amounts are US dollars. Send a new ' +
  'idempotency_key with every write, and reuse it when you retry after a timeout. Failed calls ' +
  'return a code in `error`; the resource florin://errors says what to do about each. Tools that ' +
  "move money out, reveal a card number or can't be undone say so in their description: ask the " +
  'user first.'

export const mcpServerInfo = ({ mode }: Settings) => ({
  name: 'florin',
  title: mode === 'sandbox' ? 'Florin (sandbox)' : 'Florin',
  version: MCP_VERSION,
})

/**
 * The server card (SEP-1649) as JSON text. It lists all tools regardless of scopes, so an agent
 * can find out which scopes to request.
 */
export function serverCard(settings: Settings): string {
  return JSON.stringify({
    $schema: 'https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json',
    // Version of the card format, not of the server.
    version: '1.0',
    protocolVersion: MCP_PROTOCOL,
    serverInfo: mcpServerInfo(settings),
    description: 'Payment cards funded with stablecoins, for people and AI agents.',
    documentationUrl: `${settings.public_url}/docs`,
    transport: { type: 'streamable-http', endpoint: '/mcp' },
    capabilities: mcp_capabilities,
    authentication: { required: true, schemes: ['bearer', 'oauth2'] },
    instructions: mcp_instructions,
    tools: agentTools(settings.x402).map((tool) => ({
      ...tool,
      description: `${tool.description} ${credentialFor(tool.name)}`,
    })),
    _meta: { 'florin/initial_scopes': default_scopes, 'florin/mode': settings.mode },
  })
}
