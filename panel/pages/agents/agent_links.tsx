import { Link } from 'wouter'
import { Section } from '#panel/ui/section.tsx'

const lists = [
  ['Activity', '/activity?agent='],
  ['Transactions on its cards', '/transactions?agent='],
  ['Cards it issued', '/cards?status=active,frozen,cancelled&agent='],
  ['Withdrawals', '/withdrawals?agent='],
  ['Top-ups', '/topups?agent='],
  ['Audit log', '/developers/audit?actor_id='],
] as const

/** Links to the lists, filtered by the agent. */
export function AgentLinks({ client_id }: { client_id: string }) {
  return (
    <Section title="Related">
      <ul className="space-y-1.5 text-sm">
        {lists.map(([title, href]) => (
          <li key={title}>
            <Link href={href + encodeURIComponent(client_id)} className="text-accent underline">
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
