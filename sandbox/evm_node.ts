import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from 'viem'
import { EvmChain, type EvmChange, type EvmSnapshot } from './evm_node/chain.ts'
import { respondToRpc } from './evm_node/json_rpc.ts'

/**
 * A simulated Base node: serves JSON-RPC to stock clients from a chain with ether, one EIP-3009
 * token and no other contracts.
 */
export type EvmNode = {
  readonly url: string
  /** Creates coins. */
  mint(to: Hex, micros: bigint): void
  fund(to: Hex, wei: bigint): void
  balanceOf(owner: Hex): bigint
  weiOf(owner: Hex): bigint
  snapshot(): EvmSnapshot
  /** Persists the changes since the last save. */
  save(): void
  stop(): Promise<void>
}

type Options = {
  now(): number
  snapshot?: EvmSnapshot
  /** The changes saved after the snapshot, in order. */
  changes?: readonly EvmChange[]
  /** Saves a change; called by save() and before the response to a call that mined a block. */
  persist?(change: EvmChange, snapshot: () => EvmSnapshot): void
}

export async function startEvmNode({ now, snapshot, changes, persist }: Options): Promise<EvmNode> {
  const chain = new EvmChain(now, snapshot, changes)
  const save = () => persist?.(chain.takeChange(), () => chain.snapshot())
  const server = createServer((request, response) => {
    const height = chain.head.number
    const respond = async () => {
      const body = await respondToRpc(chain, await bodyOf(request))
      if (chain.head.number > height) save()
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    respond().catch((cause) => response.writeHead(500).end(String(cause)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    mint: (to, micros) => chain.state.addCoins(to, micros),
    fund: (to, wei) => chain.state.addWei(to, wei),
    balanceOf: (owner) => chain.state.coinsOf(owner),
    weiOf: (owner) => chain.state.weiOf(owner),
    snapshot: () => chain.snapshot(),
    save,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return null
  }
}
