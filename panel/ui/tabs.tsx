import * as Radix from '@radix-ui/react-tabs'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type Tab = { value: string; title: string; content: ReactNode }

export const tab_row_class = 'mb-4 flex gap-3 overflow-x-auto border-b border-line'

/** The underline is a border of the tab itself, so the focus ring is not clipped. */
export const tab_class =
  'rounded-t-md border-b-2 border-transparent px-1 py-2 font-medium whitespace-nowrap text-soft hover:text-ink focus-visible:outline-offset-[-2px]'

/**
 * On a phone the tabs may be wider than the screen; this scrolls to the current one, and again when
 * the row changes its width, as by turning the phone.
 */
export function bringIntoView(link: HTMLAnchorElement | null): (() => void) | undefined {
  const row = link?.parentElement ?? null
  if (link === null || row === null) return undefined
  link.scrollIntoView({ block: 'nearest', inline: 'center' })
  const observer = new ResizeObserver(() => centerInRow(link, row))
  observer.observe(row)
  return () => observer.disconnect()
}

/** Unlike scrollIntoView, it never scrolls the page, which may have been scrolled since. */
function centerInRow(link: HTMLElement, row: HTMLElement): void {
  const from_row = link.getBoundingClientRect().left - row.getBoundingClientRect().left
  row.scrollLeft += from_row - (row.clientWidth - link.offsetWidth) / 2
}

/** The first tab is open initially. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  return (
    <Radix.Root defaultValue={tabs[0]?.value ?? ''}>
      <Radix.List aria-label={label} className={tab_row_class}>
        {tabs.map(({ value, title }) => (
          <Radix.Trigger
            key={value}
            value={value}
            className={classes(
              tab_class,
              'data-[state=active]:border-accent data-[state=active]:text-ink',
            )}
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
