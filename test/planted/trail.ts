import type { PlantedBug } from './planted_bug.ts'

const idempotency = {
  file: 'src/operations/perform/with_idempotency.ts',
  tests: ['src/operations/idempotency.test.ts'],
}
const stored = { ...idempotency, file: 'src/operations/perform/stored_responses.ts' }
const fingerprint = {
  file: 'src/operations/perform/fingerprint_request.ts',
  tests: ['src/operations/perform/stored_responses.test.ts'],
}
const sequences = 'src/domain/events/record_event_set.ts'
const audit = {
  file: 'src/domain/audit/audit.ts',
  tests: ['src/domain/audit/verify_audit.test.ts'],
}
const verify = { ...audit, file: 'src/domain/audit/verify_audit.ts' }

/** Idempotency, event sequences and the audit chain. */
export const trail: readonly PlantedBug[] = [
  {
    ...idempotency,
    name: 'replay_does_not_write',
    find: '  await markReplayed(tx, request, runtime.clock.now())\n',
    replace: '',
    breaks: 'The commit of a replay waits for the replication of the stored response.',
    tests: ['src/operations/perform/with_idempotency.test.ts'],
  },
  {
    ...idempotency,
    name: 'refusal_keeps_effects',
    find: `    await tx.run('rollback to savepoint effect')\n`,
    replace: '',
    breaks: 'A refused call leaves no effect behind.',
    tests: ['src/operations/perform/with_idempotency.test.ts'],
  },
  {
    ...stored,
    name: 'key_not_locked',
    find: 'if (stored === undefined && !row?.locked) throw inProgress()',
    replace: 'if (stored === undefined && row === undefined) throw inProgress()',
    breaks: 'A repeat of a call in progress is refused and does not wait.',
    tests: ['src/operations/perform/with_idempotency.test.ts'],
  },
  {
    ...stored,
    name: 'key_reused_for_other_body',
    find: 'if (row.fingerprint !== fingerprint) {',
    replace: 'if (row.fingerprint.length !== fingerprint.length) {',
    breaks: 'Another body under the same key is refused.',
  },
  {
    ...stored,
    name: 'preparation_not_taken',
    find: 'if (taken.has(name)) {',
    replace: 'if (taken.size < 0) {',
    breaks: 'Of two calls at the same time under one key, one is prepared.',
    tests: ['src/domain/webhooks/replay_webhook.test.ts'],
  },
  {
    ...stored,
    name: 'conflicts_not_stored',
    find: 'status === 409 || status === 422',
    replace: 'status === 422',
    breaks: 'A conflict is stored under its key like any other refusal by state.',
    tests: ['src/operations/perform/stored_responses.test.ts'],
  },
  {
    ...stored,
    name: 'secret_stored',
    find: 'if (name in stored) stored[name] = null',
    replace: 'if (stored[name] === undefined) stored[name] = null',
    breaks: 'A value that is shown once is never stored.',
    tests: ['src/operations/perform/stored_responses.test.ts'],
  },
  {
    ...fingerprint,
    name: 'key_shared_by_accounts',
    find: 'if (caller !== null) return caller.account_id',
    replace: 'if (caller !== null) return caller.kind',
    breaks: 'A key belongs to one account.',
  },
  {
    ...fingerprint,
    name: 'key_ignores_file',
    find: '{ ...input, sha256: request.upload.sha256 }',
    replace: '{ ...input }',
    breaks: 'A repeat with another file is another request.',
  },
  {
    name: 'sequence_compare_and_set',
    file: sequences,
    find: "    event_sequence: ['bigint', ({ read }) => read.event_sequence],\n",
    replace: '',
    breaks: 'No batch reuses event numbers that were taken after it read them.',
    tests: ['src/domain/events/record_event_set.test.ts'],
  },
  {
    name: 'sequence_unlocked',
    file: sequences,
    find: 'order by account_id for update`',
    replace: 'order by account_id`',
    breaks: 'A batch with all locks holds the sequence rows of its accounts.',
    tests: ['src/domain/events/record_event_set.test.ts'],
  },
  {
    name: 'sequence_reserves_one_less',
    file: 'src/domain/events/account_sequence_store.ts',
    find: 'set event_sequence = $2,',
    replace: 'set event_sequence = $2 - 1,',
    breaks: 'The event numbers of an account are unique and have no gap.',
    tests: ['src/domain/events/record_events.test.ts'],
  },
  {
    name: 'sequence_counts_activity',
    file: 'src/domain/events/record_events.ts',
    find: 'if (isNumbered) last.event_sequence += 1n',
    replace: 'last.event_sequence += 1n',
    breaks: 'Events of the activity stream take no number.',
    tests: ['src/domain/events/record_events.test.ts'],
  },
  {
    name: 'event_id_follows_clock',
    file: 'src/domain/context/stamp.ts',
    find: 'if (stamp.id > after) return stamp',
    replace: 'if (stamp.id !== after) return stamp',
    breaks: 'Events of one account sort in the order of their commits.',
    tests: ['src/domain/events/record_events.test.ts'],
  },
  {
    name: 'event_id_compare_and_set',
    file: sequences,
    find: "    last_event_id: ['text', ({ read }) => read.last_event_id],\n",
    replace: '',
    breaks: 'No batch stamps its events before one that was written after it read.',
    tests: ['src/domain/events/record_event_set.test.ts'],
  },
  {
    name: 'audit_unlocked',
    file: 'src/domain/events/account_sequence_store.ts',
    find: 'where account_id = $1 for update',
    replace: 'where account_id = $1',
    breaks: 'Concurrent audit entries form one chain.',
    tests: ['src/domain/audit/audit.test.ts'],
  },
  {
    ...audit,
    name: 'audit_chain_forks',
    find: 'prev_hash: audit_hash,',
    replace: 'prev_hash: genesisHash(account_id),',
    breaks: 'Each audit entry follows the one before it.',
  },
  {
    ...audit,
    name: 'audit_genesis',
    find: 'florin audit of ${account_id}',
    replace: 'florin audit of ${account_id.slice(0, 4)}',
    breaks: 'An audit chain is bound to its account.',
    tests: ['src/domain/audit/audit.test.ts'],
  },
  {
    ...verify,
    name: 'audit_head_ignored',
    find: 'position !== head.audit_count || hash !== head.audit_hash',
    replace: 'position !== head.audit_count && hash !== head.audit_hash',
    breaks: 'An audit log without its last entries is found.',
  },
  {
    ...verify,
    name: 'audit_content_ignored',
    find: 'if (auditHash(entry) !== recorded)',
    replace: 'if (auditHash(entry).length !== recorded.length)',
    breaks: 'A changed audit entry is found.',
  },
  {
    ...verify,
    name: 'audit_entry_before_first',
    find: 'e.position < 1 or e.position > h.audit_count',
    replace: 'e.position < 0 or e.position > h.audit_count',
    breaks: 'An entry that was inserted before the first one is found.',
  },
]
