import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { velocity_proofs } from './velocity_proofs.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'no daily counter exceeds what the account made that day',
    sql: `update velocities set count = count + 1 where operation = 'issue_card'`,
    sentence: /^issue_card is counted 7 times on \d{4}-\d\d-\d\d; 6 were made\.$/,
  },
]

await testBreakages(velocity_proofs, breakages)
