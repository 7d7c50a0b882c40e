import { useOperationQuery } from '#panel/queries.ts'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { PageHeader } from '#panel/ui/section.tsx'
import { ChangePassword } from './security/change_password.tsx'
import { RecentSignIns } from './security/recent_sign_ins.tsx'
import { Sessions } from './security/sessions.tsx'
import { TwoFactor } from './security/two_factor.tsx'

export function Security() {
  const query = useOperationQuery('get_account', {})
  return (
    <>
      <PageHeader title="Security" description="Where you’re signed in, and how you sign in." />
      <div className="grid items-start gap-4 xl:grid-cols-[1fr_24rem]">
        {/* First in the order of reading: on a phone, the lists below fill several screens. */}
        <div className="min-w-0 space-y-4 xl:order-last">
          <QueryBoundary query={query}>
            {(account) => <TwoFactor account={account} />}
          </QueryBoundary>
          <ChangePassword />
        </div>
        <div className="min-w-0 space-y-4">
          <Sessions />
          <RecentSignIns />
        </div>
      </div>
    </>
  )
}
