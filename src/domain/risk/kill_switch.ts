import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'

export type Rail = 'topups' | 'withdrawals' | 'issuing' | 'authorizations'

/** Read in the transaction it guards, so nothing starts after a switch is turned on. */
export async function isKilled(tx: Tx, rail: Rail): Promise<boolean> {
  const [row] = await tx.rows<{ is_on: boolean }>(
    'select is_on from kill_switches where rail = $1',
    [rail],
  )
  return row?.is_on ?? false
}

const PAUSED: Readonly<Record<Rail, string>> = {
  topups: 'top-ups',
  withdrawals: 'withdrawals',
  issuing: 'the issuing of cards',
  authorizations: 'card payments',
}

export const pausedSentence = (rail: Rail): string =>
  `The operator has temporarily paused ${PAUSED[rail]}.`

export async function requireRailOpen(tx: Tx, rail: Rail): Promise<void> {
  if (!(await isKilled(tx, rail))) return
  throw new Problem('kill_switch_active', pausedSentence(rail), { retry_after_s: 60 })
}
