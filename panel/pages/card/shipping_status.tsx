import type { Shipping } from '#contract/cards.ts'
import { Status } from '#panel/ui/badge.tsx'
import { DescriptionList, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { countryName } from '#panel/words/countries.ts'

export function ShippingStatus({ shipping }: { shipping: Shipping }) {
  const { name, line1, line2, city, state, postal_code, country } = shipping
  const lines = [name, line1, line2, `${postal_code} ${city}`, state, countryName(country)]
  const { tracking_number, tracking_url } = shipping
  return (
    <Section title="Shipping" action={<Status of={shipping.status} />}>
      <address className="mb-2 text-soft not-italic">
        {lines
          .filter((line) => line !== null)
          .map((line) => (
            <span key={line} className="block">
              {line}
            </span>
          ))}
      </address>
      <DescriptionList
        rows={[
          ...(shipping.carrier === null ? [] : [['Carrier', shipping.carrier] as const]),
          ...(tracking_number === null
            ? []
            : [
                [
                  'Tracking',
                  <Tracking key="t" number={tracking_number} url={tracking_url} />,
                ] as const,
              ]),
          ...(shipping.shipped_at === null
            ? []
            : [['Shipped', <Time key="s" at={shipping.shipped_at} />] as const]),
          ...(shipping.delivered_at === null
            ? []
            : [['Delivered', <Time key="d" at={shipping.delivered_at} />] as const]),
        ]}
      />
    </Section>
  )
}

/** The URL comes from the carrier, so only http and https are linked. */
function Tracking({ number, url }: { number: string; url: string | null }) {
  if (url === null || !/^https?:/.test(url)) return <span className="num">{number}</span>
  return (
    <a href={url} rel="noreferrer" target="_blank" className="num text-accent underline">
      {number}
    </a>
  )
}
