import type { Topup } from '#contract/topups.ts'
import { CopyButton } from '#panel/ui/copy.tsx'
import { Money } from '#panel/ui/money.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Countdown } from '#panel/ui/time.tsx'

export function DepositAddress({ topup }: { topup: Topup }) {
  const { asset } = topup
  const chain = topup.chain.toUpperCase()
  return (
    <Section>
      <div className="flex flex-col items-center gap-5 py-2 text-center">
        {topup.qr_data_uri != null && (
          <img
            src={topup.qr_data_uri}
            alt="Payment QR code"
            width="208"
            height="208"
            className="rounded-xl border border-line bg-white p-2"
          />
        )}
        <div>
          <p className="text-soft">Send</p>
          <p className="text-2xl font-semibold tracking-tight">
            <Money usd={topup.amount_usd} /> <span className="text-lg text-soft">in {asset}</span>
          </p>
        </div>
        <div className="w-full max-w-md rounded-lg bg-ground px-3 py-2.5">
          <p className="text-sm text-soft">to this address on {chain}</p>
          <p className="mt-1 font-mono text-base break-all">{topup.deposit_address}</p>
        </div>
        <div className="flex flex-wrap justify-center gap-2">
          <CopyButton text={topup.deposit_address} label="Copy address" is_label_visible />
          <CopyButton text={String(topup.amount_usd)} label="Copy amount" is_label_visible />
        </div>
        <p className="text-sm text-soft">
          Expires in <Countdown since={topup.created_at} until={topup.expires_at} />. Send only{' '}
          {asset} on {chain}. Transfers on other networks are lost.
        </p>
      </div>
    </Section>
  )
}
