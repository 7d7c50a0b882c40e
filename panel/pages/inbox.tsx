import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { requestJson } from '#panel/api.ts'
import { classes } from '#panel/ui/classes.ts'
import { Mail } from '#panel/ui/icons.ts'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { Tabs } from '#panel/ui/tabs.tsx'
import { Time } from '#panel/ui/time.tsx'

type InboxMail = {
  id: string
  to: string
  subject: string
  text: string
  created_at: string
}

/** Sandbox only: the emails that the service would send, as people see them. */
export function Inbox() {
  const [chosen, setChosen] = useState<string | null>(null)
  const inbox = useQuery<InboxMail[], FlorinError>({
    queryKey: ['inbox'],
    queryFn: async ({ signal }) =>
      (await requestJson<{ data: InboxMail[] }>('/sandbox/v1/inbox', { method: 'GET', signal }))
        .data,
    refetchInterval: 5_000,
  })
  const shown = inbox.data?.find(({ id }) => id === chosen) ?? inbox.data?.[0]
  return (
    <>
      <PageHeader
        title="Sandbox inbox"
        description="Emails your account gets. The sandbox shows them here instead of sending them."
      />
      {inbox.error !== null && (
        <ErrorState problem={inbox.error} retry={() => void inbox.refetch()} />
      )}
      {inbox.isPending && <Skeleton className="h-64" />}
      {inbox.data?.length === 0 && (
        <Section flush>
          <EmptyState icon={Mail} title="No emails yet">
            Top up, freeze a card, or change your password to get one.
          </EmptyState>
        </Section>
      )}
      {inbox.data !== undefined && shown !== undefined && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
          <MailList mails={inbox.data} shown_id={shown.id} onSelect={setChosen} />
          <MailView key={shown.id} mail={shown} />
        </div>
      )}
    </>
  )
}

type MailListProps = {
  mails: readonly InboxMail[]
  shown_id: string
  onSelect(id: string): void
}

function MailList({ mails, shown_id, onSelect }: MailListProps) {
  return (
    <Section flush>
      <ul
        className="max-h-[38vh] divide-y lg:max-h-[70vh] divide-line overflow-y-auto"
        aria-label="Emails"
      >
        {mails.map(({ id, subject, created_at }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === shown_id}
              onClick={() => onSelect(id)}
              className={classes(
                'block w-full px-4 py-3 text-left hover:bg-hover focus-visible:outline-offset-[-3px]',
                id === shown_id && 'bg-accent-ground',
              )}
            >
              <span className="block font-medium wrap-anywhere">{subject}</span>
              <span className="text-sm text-soft">
                <Time at={created_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function MailView({ mail }: { mail: InboxMail }) {
  return (
    <Section title={<span className="wrap-anywhere">{mail.subject}</span>}>
      <p className="-mt-2 mb-2 text-sm text-soft wrap-anywhere">To {mail.to}</p>
      <Tabs
        label="Format"
        tabs={[
          {
            value: 'html',
            title: 'HTML',
            content: <HtmlPreview id={mail.id} subject={mail.subject} />,
          },
          {
            value: 'text',
            title: 'Text',
            content: (
              <pre className="font-mono text-sm whitespace-pre-wrap wrap-anywhere">{mail.text}</pre>
            ),
          },
        ]}
      />
    </Section>
  )
}

/** The panel's policy allows no inline styles, so the email has a page of its own. */
function HtmlPreview({ id, subject }: { id: string; subject: string }) {
  const preview = useQuery<{ url: string }, FlorinError>({
    queryKey: ['inbox_preview', id],
    queryFn: ({ signal }) =>
      requestJson(`/sandbox/v1/inbox/${id}/preview`, { method: 'POST', body: {}, signal }),
    staleTime: 60_000,
  })
  if (preview.error !== null) return <ProblemNote problem={preview.error} />
  if (preview.data === undefined) return <Skeleton className="h-96" />
  return (
    <iframe
      title={subject}
      src={preview.data.url}
      className="h-[34rem] w-full rounded-lg border border-line"
    />
  )
}
