import {
  MCP_PROTOCOL,
  mcp_capabilities,
  mcp_instructions,
  mcpServerInfo,
} from '#doors/server_card.ts'
import type { Method } from './exchange.ts'
import { KNOWN_VERSIONS } from './protocol.ts'

/** For an unknown revision the server offers its own; the client decides whether to continue. */
export const initialize: Method = ({ runtime }, { protocolVersion }) =>
  JSON.stringify({
    protocolVersion: KNOWN_VERSIONS.find((one) => one === protocolVersion) ?? MCP_PROTOCOL,
    capabilities: mcp_capabilities,
    serverInfo: mcpServerInfo(runtime.settings),
    instructions: mcp_instructions,
  })
