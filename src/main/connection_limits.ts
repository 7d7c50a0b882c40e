import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '#domain/risk/rate_limit.ts'

export type ConnectionLimits = { total: number; address: number }

/** A silent connection costs about 20 KB: all of them together 160 MB. */
export const CONNECTIONS: ConnectionLimits = { total: 8_192, address: 2_048 }

/** Beyond these a connection is closed unread. Behind a proxy all come from its address. */
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
