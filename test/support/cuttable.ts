import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

type Cuttable = { url: string; cut(): Promise<void>; mend(): Promise<void> }

/** A proxy to the database that a test can cut and mend. */
export async function cuttableLine(database_url: string): Promise<Cuttable> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  after(cut)
  const url = new URL(database_url)
  url.host = `127.0.0.1:${port}`
  return { url: url.toString(), cut, mend: () => listen(port) }
}
