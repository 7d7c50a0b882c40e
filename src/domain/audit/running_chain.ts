import type { RunningProof } from '#domain/context/proof.ts'
import { genesisHash } from './audit.ts'
import { type AuditFault, verifyChain } from './verify_audit.ts'

/** The last verified entry. */
type ChainEnd = { position: number; hash: string }

/** Verifies the entries that were added to an account's audit chain. */
export const running_chain: RunningProof<ChainEnd> = {
  name: "an account's audit log is one unbroken chain",
  key: 'audit',
  start: async (_, account_id) => ({ position: 0, hash: genesisHash(account_id) }),
  advance: async (reader, account_id, { from }) => {
    const [head] = await reader.rows<{ audit_count: bigint; audit_hash: string }>(
      'select audit_count, audit_hash from account_sequences where account_id = $1',
      [account_id],
    )
    if (head === undefined) return { state: from, sentences: [] }
    const faults: AuditFault[] = []
    const start = { position: BigInt(from.position), hash: from.hash }
    await verifyChain(reader, { account_id, ...head }, { start, faults })
    return {
      state: { position: Number(head.audit_count), hash: head.audit_hash },
      sentences: faults.map(({ position, fault }) => ({
        id: `${account_id}/${position}`,
        sentence: `Entry ${position} of the audit log: ${fault}.`,
      })),
    }
  },
}
