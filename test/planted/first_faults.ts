import type { PlantedBug } from './planted_bug.ts'

const three_ds = {
  file: 'src/domain/authorizations/three_ds.ts',
  tests: ['src/domain/authorizations/three_ds.test.ts'],
}

/** The fixes of faults in the first version, taken out; the simulation finds them too. */
export const first_faults: readonly PlantedBug[] = [
  {
    name: 'lease_of_lost_node',
    file: 'src/platform/postgres/lease.ts',
    find: `set_config('idle_session_timeout', $2, false) end`,
    replace: `set_config('florin.idle_session_timeout', $2, false) end`,
    breaks: 'The lease of a node that lost power is free within 15 seconds.',
    tests: ['src/platform/postgres/lease.test.ts'],
  },
  {
    name: 'refund_beside_won_dispute',
    file: 'src/domain/disputes/dispute_store.ts',
    find: `and outcome is distinct from 'lost'`,
    replace: 'and outcome is null',
    breaks: 'A refund takes back the credit of a dispute that was won before.',
    tests: ['test/stories/money_back.long.test.ts'],
  },
  {
    name: 'listen_once',
    file: 'src/platform/postgres/listen.ts',
    find: 'if (signal.aborted || !(await this.#open())) continue',
    replace: 'if (!this.#is_failing || !(await this.#open())) continue',
    breaks: 'A node listens again after it has lost its connection.',
    tests: ['src/platform/postgres/listen.test.ts'],
  },
  {
    name: 'listen_before_connected',
    file: 'src/platform/postgres/listen.ts',
    find: 'if (this.#loop !== null) return void (await this.#opening)',
    replace: 'if (this.#loop !== null) return',
    breaks: 'A subscription made while the connection opens works once it resolves.',
    tests: ['src/platform/postgres/listen.test.ts'],
  },
  {
    ...three_ds,
    name: 'three_ds_other_merchant',
    find: 'isUsable && isSamePurchase(challenge, request)',
    replace: 'isUsable',
    breaks: 'A challenge serves its own merchant only.',
  },
  {
    ...three_ds,
    name: 'three_ds_after_a_day',
    find: 'APPROVAL_LIFETIME_MS = 24 * 3_600_000',
    replace: 'APPROVAL_LIFETIME_MS = 365 * 24 * 3_600_000',
    breaks: 'An approved challenge serves for 24 hours.',
  },
  {
    name: 'batch_commits_in_parts',
    file: 'src/domain/authorizations/batch.ts',
    find: '    writes.push(...build())',
    replace: '    try { writes.push(...build()) } catch {}',
    breaks: 'An error while a batch is built commits nothing of it.',
    tests: ['src/domain/authorizations/batch.test.ts'],
  },
  {
    name: 'purchase_rows_by_clock',
    file: 'src/domain/authorizations/record.ts',
    find: 'if (newest === null || newest < id) return',
    replace: 'if (newest !== id) return',
    breaks: 'A refund goes to the first capture, though its node had the faster clock.',
    tests: ['src/domain/authorizations/counters.test.ts'],
  },
]
