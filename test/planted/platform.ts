import type { PlantedBug } from './planted_bug.ts'

const transaction = 'src/platform/postgres/transaction.ts'
const db = 'src/platform/postgres/db.ts'
const primary_finder = 'src/platform/postgres/primary_finder.ts'
const pipeline = 'src/platform/postgres/pipeline.ts'
const pipeline_tests = ['src/platform/postgres/pipeline.test.ts']
const cell_host = 'src/platform/postgres/cell_host.ts'
const db_tests = ['src/platform/postgres/db.test.ts']
const lease = {
  file: 'src/platform/postgres/lease.ts',
  tests: ['src/platform/postgres/lease.test.ts'],
}
const lane = {
  file: 'src/platform/postgres/write_lane.ts',
  tests: ['src/platform/postgres/write_lane.test.ts'],
}
const rules = {
  file: 'src/platform/http_client/address_rules.ts',
  tests: ['src/platform/http_client/address_rules.test.ts'],
}

/** Commits, failover, leases, retries and outgoing requests. */
export const platform: readonly PlantedBug[] = [
  {
    name: 'commit_warning',
    file: transaction,
    find: '  if (warning !== undefined) throw',
    replace: `  if (warning === '') throw`,
    breaks: 'A commit whose wait for the standby was cut short is not reported as done.',
    tests: ['src/platform/postgres/transaction.test.ts'],
  },
  {
    name: 'commit_answered_rollback',
    file: transaction,
    find: `if (command !== 'COMMIT') throw`,
    replace: `if (command === '') throw`,
    breaks: 'A commit that the server answered with a rollback is not reported as done.',
    tests: db_tests,
  },
  {
    name: 'commit_not_awaited',
    file: transaction,
    find: '    await committed\n    fail(',
    replace: '    void committed\n    fail(',
    breaks: 'A transaction succeeds only after the server confirmed its commit.',
    tests: db_tests,
  },
  {
    name: 'rollback_overtakes_statements',
    file: transaction,
    find: '  sendPipeline(client)\n',
    replace: '',
    breaks: 'A statement that work sent just before it failed is rolled back with it.',
    tests: db_tests,
  },
  {
    name: 'skipped_statement_done',
    file: pipeline,
    find: 'if (at < kept) statement.resolve',
    replace: 'if (at !== kept) statement.resolve',
    breaks: 'A statement that the server skipped after a failure is not reported as done.',
    tests: pipeline_tests,
  },
  {
    name: 'implicit_commit_failed',
    file: pipeline,
    find: 'this.#at === this.#statements.length ? 0 : this.#at',
    replace: 'this.#at',
    breaks: 'A statement outside a transaction succeeds only after its commit.',
    tests: pipeline_tests,
  },
  {
    name: 'old_primary',
    file: primary_finder,
    find: "if (timeline < (this.#newest_timelines.get(cluster) ?? ''))",
    replace: "if (timeline === 'none')",
    breaks: 'No write reaches an old primary that came back after a failover.',
    tests: ['src/platform/postgres/hosts.test.ts'],
  },
  {
    name: 'standby_accepted',
    file: cell_host,
    find: `if (timeline === null) throw new DatabaseUnavailable('that host is a standby')`,
    replace: `if (timeline === null) return { timeline: '', cluster: '' }`,
    breaks: 'A standby is not used as the primary.',
    tests: ['src/platform/postgres/hosts.test.ts'],
  },
  {
    name: 'any_worker_accepted',
    file: cell_host,
    find: 'if (home?.is_home !== true) {',
    replace: 'if (home === undefined) {',
    breaks: 'On Citus, a node uses only the worker that has its schema.',
    tests: ['src/platform/postgres/hosts.test.ts'],
  },
  {
    name: 'moved_schema_unasked',
    file: 'src/platform/postgres/database_address.ts',
    find: 'if (mustAskSchema(client, address.schema))',
    replace: 'if (client === undefined)',
    breaks: 'A new connection to a schema that was moved follows the move.',
    tests: ['src/platform/postgres/database_address.test.ts'],
  },
  {
    name: 'conflicts_not_retried',
    file: db,
    find: 'if (attempt >= RETRIES_MAX) throw',
    replace: 'if (attempt <= RETRIES_MAX) throw',
    breaks: 'Work that lost a deadlock runs again.',
    tests: db_tests,
  },
  {
    ...lease,
    name: 'lease_outlives_session',
    find: `client.once('end', lose)`,
    replace: `client.once('drain', lose)`,
    breaks: 'A lease ends with the session that holds it.',
  },
  {
    ...lease,
    name: 'lease_unguarded',
    find: '        check()\n        return Reflect.apply',
    replace: '        return Reflect.apply',
    breaks: 'A node that lost its lease can neither sign nor write.',
    tests: ['src/domain/withdrawals/lost_lease.test.ts'],
  },
  {
    ...lease,
    name: 'lease_shared',
    find: 'if (taken.rows[0]?.is_ours !== true) return false',
    replace: 'if (taken.rows[0] === undefined) return false',
    breaks: 'A lease has one holder at a time.',
  },
  {
    ...lane,
    name: 'lane_retries_once_more',
    find: 'attempt === ATTEMPTS_MAX',
    replace: 'attempt > ATTEMPTS_MAX',
    breaks: 'A batch with a retryable fault is tried three times.',
  },
  {
    ...rules,
    name: 'egress_mixed_addresses',
    file: 'src/platform/http_client/host_names.ts',
    find: 'addresses.every(isPublicAddress)',
    replace: 'addresses.some(isPublicAddress)',
    breaks: 'A name with a single private address is refused.',
    tests: ['src/platform/http_client/http_client.pinning.test.ts'],
  },
  {
    ...rules,
    name: 'egress_nat64',
    find: 'if (!isMapped && !isNat64) return undefined',
    replace: 'if (!isMapped) return undefined',
    breaks: 'A private address inside a NAT64 address is refused.',
  },
  {
    ...rules,
    name: 'egress_metadata_host',
    find: `  ['169.254.0.0', 16],\n`,
    replace: `  ['169.254.0.0', 24],\n`,
    breaks: 'The metadata host of a cloud is never called.',
  },
  {
    ...rules,
    name: 'egress_carrier_network',
    find: `['172.16.0.0', 12]`,
    replace: `['172.16.0.0', 16]`,
    breaks: 'All of a private network is refused, not only its beginning.',
  },
  {
    ...rules,
    name: 'egress_local_name',
    find: 'endsWith(`.${suffix}`)',
    replace: 'startsWith(`.${suffix}`)',
    breaks: 'Names of the local network are refused.',
  },
]
