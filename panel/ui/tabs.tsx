import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

export type Tab = { value: string; title: string; content: ReactNode }

/** Parts of one page, side by side. The first is open unless `value` says otherwise. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  return (
    <Radix.Root defaultValue={tabs[0]?.value ?? ''}>
      <Radix.List
        aria-label={label}
        className="mb-4 flex gap-5 overflow-x-auto border-b border-line"
      >
        {tabs.map(({ value, title }) => (
          <Radix.Trigger
            key={value}
            value={value}
            className="-mb-px border-b-2 border-transparent py-2 font-medium whitespace-nowrap text-soft hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {title}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ value, content }) => (
        <Radix.Content key={value} value={value}>
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
