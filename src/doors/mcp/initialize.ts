import { mcp_capabilities, mcp_instructions, mcpServerInfo } from '#doors/server_card.ts'
import type { Method } from './exchange.ts'
import { PROTOCOL_VERSION } from './protocol.ts'

/** Differs from our revision in nothing we use, so a client that only knows it is accepted. */
const OLDER_VERSION = '2025-03-26'

/** For any other revision the server offers its own, and the client decides whether to continue. */
export const initialize: Method = ({ runtime }, { protocolVersion }) =>
  JSON.stringify({
    protocolVersion: protocolVersion === OLDER_VERSION ? OLDER_VERSION : PROTOCOL_VERSION,
    capabilities: mcp_capabilities,
    serverInfo: mcpServerInfo(runtime.settings),
    instructions: mcp_instructions,
  })
