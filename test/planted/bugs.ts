import { access_rules } from './access.ts'
import { authorization_checks } from './authorization_checks.ts'
import { card_money } from './card_money.ts'
import { card_usage } from './card_usage.ts'
import { first_faults } from './first_faults.ts'
import { ledger } from './ledger.ts'
import { movement_sides } from './movements.ts'
import { outgoing } from './outgoing.ts'
import type { PlantedBug } from './planted_bug.ts'
import { platform } from './platform.ts'
import { rails } from './rails.ts'
import { sign_in } from './sign_in.ts'
import { trail } from './trail.ts'

/** Every planted bug; `npm run test:planted` finds them all. */
export const planted_bugs: readonly PlantedBug[] = [
  ...authorization_checks,
  ...ledger,
  ...movement_sides,
  ...card_money,
  ...card_usage,
  ...trail,
  ...access_rules,
  ...sign_in,
  ...rails,
  ...outgoing,
  ...platform,
  ...first_faults,
]
