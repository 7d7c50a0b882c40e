import type { Block } from './block.ts'
import type { Chain, MinedTransaction } from './chain.ts'
import type { Reader } from './chain_state.ts'

/**
 * The chain as one request sees it: up to the solidified block for /walletsolidity, or up to an
 * older head on a lagging node. Every read goes through a view.
 */
export class View {
  readonly chain: Chain
  readonly head_number: number
  readonly limit: number

  constructor(chain: Chain, { lag = 0, solid = false }: { lag?: number; solid?: boolean }) {
    this.chain = chain
    this.head_number = Math.max(0, chain.head_number - lag)
    this.limit = solid ? chain.solidNumber(this.head_number) : this.head_number
  }

  get newest(): Block {
    return this.block(this.limit) ?? this.chain.head
  }

  get solid_number(): number {
    return this.chain.solidNumber(this.head_number)
  }

  block(number: number): Block | null {
    return number > this.limit ? null : this.chain.blocks.get(number)
  }

  /** The visible blocks with content in a range. */
  keptBlocks(from: number, to: number): Block[] {
    return this.chain.blocks.kept(from, Math.min(to, this.limit))
  }

  blockById(id: string): Block | null {
    const block = this.block(Number.parseInt(id.slice(0, 16), 16))
    return block?.id === id ? block : null
  }

  find(txid: string): MinedTransaction | null {
    const located = this.chain.find(txid)
    return located === null || located.block.number > this.limit ? null : located
  }

  get state(): Reader {
    return this.chain.readerAt(this.limit)
  }
}
