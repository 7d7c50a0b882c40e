import { lazy, Suspense, useState } from 'react'
import type { Account } from '#contract/accounts.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ShieldCheck, ShieldOff } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { TurnOff } from './turn_off_two_factor.tsx'

/** Loaded on demand, because it includes the QR code library. */
const TurnOn = lazy(() =>
  import('./turn_on_two_factor.tsx').then(({ TurnOn: dialog }) => ({ default: dialog })),
)

export function TwoFactor({ account }: { account: Account }) {
  const [is_changing, setChanging] = useState<'on' | 'off' | null>(null)
  const is_on = account.two_factor_enabled
  const Icon = is_on ? ShieldCheck : ShieldOff
  return (
    <Section
      title="Two-factor authentication"
      action={<Badge tone={is_on ? 'good' : 'warn'}>{is_on ? 'On' : 'Off'}</Badge>}
    >
      <div className="flex items-start gap-3">
        <Icon className="mt-0.5 size-5 shrink-0 text-soft" aria-hidden />
        <p className="min-w-0 flex-1 text-soft">
          {is_on
            ? 'You’ll need a code from your authenticator app to sign in or withdraw.'
            : 'Require a code from an authenticator app when you sign in or withdraw.'}
        </p>
      </div>
      <Button
        className="mt-4"
        kind={is_on ? 'plain' : 'main'}
        onClick={() => setChanging(is_on ? 'off' : 'on')}
      >
        {is_on ? 'Turn off' : 'Turn on'}
      </Button>
      {is_changing === 'off' && <TurnOff onClose={() => setChanging(null)} />}
      <Suspense>{is_changing === 'on' && <TurnOn onClose={() => setChanging(null)} />}</Suspense>
    </Section>
  )
}
