import type {
  BlockHeader,
  ChainReceipt,
  DepositSource,
  TransferLog,
} from '#rails/chain/deposit_source.ts'

export const blockHeader = (number: number, fork = ''): BlockHeader => ({
  number,
  hash: `${fork}${number}`,
  timestamp_ms: number * 3_000,
})

/** The receipt of a transaction whose second log, number 7, is the transfer. */
export const receiptOf = (log: TransferLog): ChainReceipt => ({
  txid: log.txid,
  ok: true,
  block_number: log.block_number,
  block_hash: log.block_hash,
  logs: [
    { log_index: 6, transfer: null },
    { log_index: 7, transfer: log },
  ],
})

/** A node with head 119, final block 100 and these logs; each response can be replaced. */
export function nodeWith(
  logs: readonly TransferLog[],
  replaced: Partial<DepositSource> = {},
): DepositSource {
  return {
    chainId: async () => 1,
    decimals: async () => 6,
    head: async () => blockHeader(119),
    finalized: async () => blockHeader(100),
    block: async (number) => blockHeader(number),
    logs: async () => [...logs],
    receipt: async (txid) => {
      const log = logs.find((one) => one.txid === txid)
      return log === undefined ? null : receiptOf(log)
    },
    ...replaced,
  }
}
