import { mcp_capabilities, mcp_instructions, mcpServerInfo } from '#doors/server_card.ts'
import type { Method } from './exchange.ts'
import { PROTOCOL_VERSION } from './protocol.ts'

/** The revision before ours differs in nothing we use: a client that knows no other may stay. */
const OLDER_VERSION = '2025-03-26'

/** A newer revision is answered with ours; the client says whether it can go along. */
export const initialize: Method = ({ programme }, { protocolVersion }) =>
  JSON.stringify({
    protocolVersion: protocolVersion === OLDER_VERSION ? OLDER_VERSION : PROTOCOL_VERSION,
    capabilities: mcp_capabilities,
    serverInfo: mcpServerInfo(programme.settings),
    instructions: mcp_instructions,
  })
