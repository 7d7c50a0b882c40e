import { mcp_capabilities, mcp_instructions, mcpServerInfo } from '#doors/server_card.ts'
import type { Method } from './exchange.ts'
import { ELICITATION_VERSION, KNOWN_VERSIONS } from './protocol.ts'

/** For an unknown revision the server offers its newest; the client decides whether to continue. */
export const initialize: Method = ({ runtime }, { protocolVersion }) =>
  JSON.stringify({
    protocolVersion: KNOWN_VERSIONS.find((one) => one === protocolVersion) ?? ELICITATION_VERSION,
    capabilities: mcp_capabilities,
    serverInfo: mcpServerInfo(runtime.settings),
    instructions: mcp_instructions,
  })
