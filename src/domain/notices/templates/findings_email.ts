import type { Email } from './layout.ts'

type Finding = { proof: string; account_id: string; object_id: string; sentence: string }

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
    lines: [
      ...findings.map(
        ({ proof, account_id, object_id, sentence }) =>
          `${object_id}${account_id === '' ? '' : ` (${account_id})`}: ${sentence} ` +
          `Expected: ${proof}.`,
      ),
      ...(more > 0 ? [`And ${more} more.`] : []),
    ],
    button: { label: 'Open reconciliation', to: '/operator/reconciliation' },
    footer: 'You get these alerts as an operator.',
  }
}
