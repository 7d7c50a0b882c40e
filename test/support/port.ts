import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral range, so the system doesn't assign the port to another program. */
const FIRST = 10_240
const LAST = 32_000

/** Ports that this process has handed out; they may not be open yet. */
const given = new Set<number>()

/** A port that is not in use. */
export async function freePort(): Promise<number> {
  const port = randomInt(FIRST, LAST)
  if (given.has(port)) return freePort()
  given.add(port)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
