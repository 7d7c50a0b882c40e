import type { Answer } from '#operations/call.ts'
import type { Exchange, ToolCall } from './exchange.ts'
import { isToken, resultText } from './protocol.ts'

/** Proxies close what is silent for a minute; a comment line keeps it open. */
const KEEP_ALIVE_MS = 15_000

/**
 * The answer as a stream of events: progress as it is made, then the result. Whether the call is
 * allowed was settled before, since the status cannot change once the stream has begun.
 */
export async function streamTool(exchange: Exchange, call: ToolCall): Promise<void> {
  const { reply, programme, id, tools } = exchange
  const headers = { ...(reply.getHeaders() as Record<string, string>) }
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headers,
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
  })
  const send = (message: string) => reply.raw.write(`event: message\ndata: ${message}\n\n`)
  const told = progressOf(call, send)
  const stop = programme.clock.every(KEEP_ALIVE_MS, () => reply.raw.write(': still at it\n\n'))
  try {
    told('Received.')
    const answer: Answer = await tools.run(exchange, call, () => told('Allowed; running.'))
    told(answer.status < 300 ? 'Done.' : 'Refused.')
    send(resultText(id, tools.resultOf(call, answer)))
  } finally {
    stop()
    reply.raw.end()
  }
}

const STEPS = 3

function progressOf({ meta }: ToolCall, send: (message: string) => void) {
  const { progressToken } = meta
  let progress = 0
  return (message: string) => {
    if (!isToken(progressToken)) return
    progress = message === 'Refused.' || message === 'Done.' ? STEPS : progress + 1
    const params = { progressToken, progress, total: STEPS, message }
    send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
  }
}
