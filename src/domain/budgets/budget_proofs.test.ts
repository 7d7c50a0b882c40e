import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { budgetBooks } from '#test/support/budget_books.ts'
import { budget_proofs } from './budget_proofs.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'the usage of each app is the sum of its charges',
    sql: 'update budget_usage set month_micros = month_micros - 1000000',
    sentence:
      'The usage of the day, month and total is $70, $69 and $70; the charges sum to $70, $70 ' +
      'and $70.',
  },
  {
    proof: 'each charge is the amount of its movement, and an unload gives back no more',
    sql: `update budget_charges set total_micros = total_micros - 1000000 where total_micros < 0;
          update budget_usage set total_micros = total_micros - 1000000`,
    sentence: /^bal_\w+ is charged with \$-6, and the movement is card_unloaded of \$5\.$/,
  },
  {
    proof: 'an approval is used if and only if one movement of its amount names it',
    sql: "update approvals set status = 'used', used_at = created_at where status = 'pending'",
    sentence: 'The approval of $90 is used, with charges of nothing.',
  },
]

await testBreakages(budget_proofs, breakages, budgetBooks)
