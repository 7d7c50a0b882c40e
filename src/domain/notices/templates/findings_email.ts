import { formatTimestamp } from '#kernel/timestamp.ts'
import type { DetailRows, Email } from './layout.ts'

type Finding = {
  proof: string
  account_id: string
  object_id: string
  sentence: string
  first_seen_at: Date
}

/** Lists the objects for which a proof of the books fails, for the operator. */
export function findingsEmail(
  findings: readonly Finding[],
  { count, is_reminder }: { count: number; is_reminder: boolean },
): Email {
  const noun = count === 1 ? 'finding' : 'findings'
  const more = count - findings.length
  return {
    subject: is_reminder
      ? `${count} ${noun} in the books, still unresolved`
      : `${count} new ${noun} in the books`,
    lines: more > 0 ? [`The first ${findings.length} are below. The console lists all.`] : [],
    sections: findings.map((finding) => ({ line: finding.sentence, details: rowsOf(finding) })),
    button: { label: 'Open reconciliation', to: '/operator/reconciliation' },
    footer: 'You get these alerts as an operator.',
  }
}

function rowsOf({ proof, account_id, object_id, first_seen_at }: Finding): DetailRows {
  return [
    ['Expected', `${proof.charAt(0).toUpperCase()}${proof.slice(1)}`],
    ['Object', object_id],
    ...(account_id === '' || account_id === object_id ? [] : [['Account', account_id] as const]),
    ['Found', formatTimestamp(first_seen_at)],
  ]
}
