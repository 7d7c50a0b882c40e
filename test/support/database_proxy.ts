import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export type DatabaseProxy = {
  url: string
  port: number
  /** Closes every connection and refuses new ones, like a dead server. */
  cut(): Promise<void>
  /** Forwards nothing, not even a close, as if the other machine had lost power. */
  stall(): void
  heal(): Promise<void>
  close(): Promise<void>
}

/** A proxy between the service and its database that a test can cut, stall and heal. */
export async function databaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isStalled = false
  const serve = (client: Socket) => {
    const server = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (!isStalled) to.write(chunk)
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        if (!isStalled) to.destroy()
      })
    }
  }
  let listener: Server = createServer(serve).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${port}`
  const cut = async () => {
    const closed = listener.listening ? once(listener, 'close') : Promise.resolve()
    listener.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: proxied.toString(),
    port,
    cut,
    stall: () => {
      isStalled = true
    },
    heal: async () => {
      isStalled = false
      if (listener.listening) return
      listener = createServer(serve).listen(port, '127.0.0.1')
      await once(listener, 'listening')
    },
    close: cut,
  }
}
