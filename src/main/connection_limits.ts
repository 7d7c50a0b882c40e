import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '#domain/risk/rate_limit.ts'

export type ConnectionLimits = { total: number; address: number }

/** An idle connection costs about 20 KB, so the total is 160 MB. */
export const CONNECTIONS: ConnectionLimits = { total: 8_192, address: 2_048 }

/**
 * Closes connections beyond the limits without reading from them. Behind a proxy all connections
 * have its address, so only the total is limited.
 */
export function limitConnections(
  server: Server,
  { total, address }: ConnectionLimits,
  isBehindProxy: boolean,
): void {
  server.maxConnections = total
  if (isBehindProxy) return
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    const count = (open.get(network) ?? 0) + 1
    if (count > address) return void socket.destroy()
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}
