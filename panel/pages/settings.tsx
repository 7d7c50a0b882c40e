import { useOperationQuery } from '#panel/queries.ts'
import { Copyable } from '#panel/ui/copy.tsx'
import { EmailAddress } from '#panel/ui/email_address.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ChangeEmail } from './settings/change_email.tsx'
import { NotificationSettings } from './settings/notification_settings.tsx'
import { ThemeSelect } from './settings/theme_select.tsx'

export function Settings() {
  const query = useOperationQuery('get_account', {})
  return (
    <>
      <PageHeader title="Settings" />
      <QueryBoundary query={query}>
        {(account) => (
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <div className="min-w-0 space-y-4">
              <Section title="Account">
                <DescriptionList
                  rows={[
                    ['Email', <EmailAddress key="email" of={account.email} />],
                    ['Created', <Time key="created" at={account.created_at} />],
                    ['Account ID', <Copyable key="id" text={account.id} label="Copy account ID" />],
                  ]}
                />
              </Section>
              <ChangeEmail account={account} />
            </div>
            <div className="min-w-0 space-y-4">
              <NotificationSettings notifications={account.notifications} />
              <ThemeSelect />
            </div>
          </div>
        )}
      </QueryBoundary>
    </>
  )
}
