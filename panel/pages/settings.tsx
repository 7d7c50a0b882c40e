import { useRead } from '#panel/queries.ts'
import { Copyable } from '#panel/ui/copy.tsx'
import { One } from '#panel/ui/one.tsx'
import { Facts, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ChangeEmail } from './settings/change_email.tsx'
import { ChangePassword } from './settings/change_password.tsx'
import { NotificationChoices } from './settings/notification_choices.tsx'
import { ThemeChoice } from './settings/theme_choice.tsx'
import { TwoFactor } from './settings/two_factor.tsx'

export function Settings() {
  const read = useRead('get_account', {})
  return (
    <>
      <PageHeader title="Settings" />
      <One read={read}>
        {(account) => (
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <div className="min-w-0 space-y-4">
              <Section title="Account">
                <Facts
                  rows={[
                    ['Email', account.email],
                    ['Created', <Time key="created" at={account.created_at} />],
                    ['Account ID', <Copyable key="id" text={account.id} label="Copy account ID" />],
                  ]}
                />
              </Section>
              <TwoFactor account={account} />
              <ChangePassword />
              <ChangeEmail account={account} />
            </div>
            <div className="min-w-0 space-y-4">
              <NotificationChoices notifications={account.notifications} />
              <ThemeChoice />
            </div>
          </div>
        )}
      </One>
    </>
  )
}
