import type { Response } from '#operations/call.ts'
import type { Exchange, ToolCall } from './exchange.ts'
import { errorText, isToken, resultText } from './protocol.ts'
import { elicitationIn } from './url_elicitation.ts'

/** Proxies close a connection that is idle for a minute; a comment line keeps it open. */
const KEEP_ALIVE_MS = 15_000

/**
 * Sends progress notifications and then the result as an event stream. Access was checked before,
 * because the HTTP status cannot change once the stream has started.
 */
export async function streamTool(exchange: Exchange, call: ToolCall): Promise<void> {
  const { reply, runtime, id, tools } = exchange
  const headers = { ...(reply.getHeaders() as Record<string, string>) }
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headers,
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
  })
  const send = (message: string) => reply.raw.write(`event: message\ndata: ${message}\n\n`)
  const notify = progressOf(call, send)
  const stop = runtime.clock.every(KEEP_ALIVE_MS, () => reply.raw.write(': keep-alive\n\n'))
  try {
    notify('Received.')
    const response: Response = await tools.run(exchange, call, () => notify('Authorized; running.'))
    notify(response.status < 300 ? 'Done.' : 'Failed.')
    const elicitation = await elicitationIn(exchange, call, response)
    if (elicitation !== undefined) send(errorText(id, elicitation))
    else send(resultText(id, tools.resultOf(call, response)))
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
    progress = message === 'Failed.' || message === 'Done.' ? STEPS : progress + 1
    const params = { progressToken, progress, total: STEPS, message }
    send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
  }
}
