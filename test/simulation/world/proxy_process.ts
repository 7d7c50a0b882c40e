import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { serveCommands } from './child_commands.ts'
import type { LinkState } from './proxies.ts'

/**
 * TCP proxies between the nodes and the database servers, in a process of their own so that the
 * driver's work doesn't delay the database.
 */
type Pair = { client: Socket; server: Socket | null }
type Link = { state: LinkState; pairs: Set<Pair>; target: number }

const links = new Map<number, Link>()

function linkOf(port: number): Link {
  const link = links.get(port)
  if (link === undefined) throw new Error(`no link on port ${port}`)
  return link
}

function dial(link: Link, pair: Pair): void {
  const server = connect({ port: link.target, host: '127.0.0.1', noDelay: true })
  pair.server = server
  forward(link, pair.client, server)
  forward(link, server, pair.client)
}

function forward(link: Link, from: Socket, to: Socket): void {
  from.on('data', (chunk: Buffer) => {
    const { delay_ms, chunk_bytes } = link.state
    if (delay_ms === 0) writeIn(to, chunk, chunk_bytes)
    else setTimeout(() => writeIn(to, chunk, chunk_bytes), delay_ms)
  })
  from.on('error', () => undefined)
  from.on('close', () => {
    // A silent link doesn't forward a close either.
    if (link.state.mode !== 'silent') setTimeout(() => to.destroy(), link.state.delay_ms)
  })
}

/** Small writes arrive as separate segments, so the reader sees parts of messages. */
function writeIn(to: Socket, chunk: Buffer, bytes: number): void {
  if (bytes === 0) return void to.write(chunk)
  for (let at = 0; at < chunk.length; at += bytes) to.write(chunk.subarray(at, at + bytes))
}

function accept(link: Link, client: Socket): void {
  client.setNoDelay(true)
  client.on('error', () => undefined)
  if (link.state.mode === 'cut') return void client.resetAndDestroy()
  const pair: Pair = { client, server: null }
  link.pairs.add(pair)
  client.on('close', () => link.pairs.delete(pair))
  if (link.state.mode === 'open') dial(link, pair)
  else client.pause()
}

function change(link: Link, state: LinkState): void {
  link.state = state
  for (const pair of link.pairs) {
    const { client, server } = pair
    if (state.mode === 'cut') {
      client.resetAndDestroy()
      server?.resetAndDestroy()
    } else if (state.mode === 'silent') {
      client.pause()
      server?.pause()
    } else {
      if (server === null) dial(link, pair)
      client.resume()
      server?.resume()
      if (server?.destroyed === true) client.destroy()
    }
  }
}

serveCommands({
  open: async (target: number) => {
    const state: LinkState = { mode: 'open', delay_ms: 0, chunk_bytes: 0 }
    const link: Link = { state, pairs: new Set(), target }
    const server = createServer((client) => accept(link, client)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    links.set(port, link)
    return port
  },
  set: ({ port, state }: { port: number; state: LinkState }) => change(linkOf(port), state),
})
