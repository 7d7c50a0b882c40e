import type { Socket } from 'node:net'
import type { Client } from 'undici'

/** A client over one checked socket, between two requests. */
export type KeptConnection = { readonly client: Client; readonly socket: Socket }

export type KeptConnections = {
  /** Takes an idle connection out of the pool; undefined if there is none. */
  take(origin: string): KeptConnection | undefined
  keep(origin: string, connection: KeptConnection): void
}

/** Beyond these limits, a connection is closed after its response. */
export const PER_ORIGIN_MAX = 64
const TOTAL_MAX = 1_024

/**
 * Idle connections by origin. Each is connected to the address that was checked when it was opened,
 * so reusing it needs no new check. They close after a few idle seconds, and an idle one does not
 * keep the process alive.
 */
export function keptConnections(): KeptConnections {
  const idle = new Map<string, KeptConnection[]>()
  const watched = new WeakSet<KeptConnection>()
  let total = 0

  const drop = (origin: string, connection: KeptConnection): boolean => {
    const list = idle.get(origin)
    const at = list?.indexOf(connection) ?? -1
    if (at >= 0) {
      list?.splice(at, 1)
      total -= 1
    }
    if (list?.length === 0) idle.delete(origin)
    return at >= 0
  }

  return {
    take: (origin) => {
      const connection = idle.get(origin)?.pop()
      if (connection === undefined) return undefined
      total -= 1
      connection.socket.ref()
      return connection
    },
    keep: (origin, connection) => {
      const { client, socket } = connection
      const list = idle.get(origin) ?? []
      if (socket.destroyed || list.length >= PER_ORIGIN_MAX || total >= TOTAL_MAX) {
        socket.destroy()
        void client.destroy()
        return
      }
      idle.set(origin, list)
      list.push(connection)
      total += 1
      socket.unref()
      if (watched.has(connection)) return
      watched.add(connection)
      client.once('disconnect', () => void (drop(origin, connection) && client.destroy()))
    },
  }
}
