import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { running_chain } from './running_chain.ts'

const breakages: readonly Breakage[] = [
  {
    proof: "an account's audit log is one unbroken chain",
    sql: `update audit_entries set actor_name = 'somebody else' where position = 1`,
    sentence: 'Entry 1 of the audit log: its content was changed.',
  },
  {
    proof: "an account's audit log is one unbroken chain",
    sql: 'delete from audit_entries where position = 2',
    sentence: /^Entry [12] of the audit log: an entry is missing after this one\.$/,
  },
]

await testBreakages([running_chain], breakages)
