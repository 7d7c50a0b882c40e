import * as DropdownMenu from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

type MenuItem = {
  text: string
  icon?: ReactNode
  danger?: boolean
  disabled?: boolean
  onSelect(): void
}

type Props = { trigger: ReactNode; items: readonly (MenuItem | 'line')[]; heading?: ReactNode }

/** Not modal: a modal Radix menu locks scrolling with a style element that the CSP blocks. */
export function Menu({ trigger, items, heading }: Props) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="rise z-50 min-w-48 rounded-xl border border-line bg-sheet p-1 text-ink shadow-lg"
        >
          {heading !== undefined && <div className="px-2.5 py-2 text-sm text-soft">{heading}</div>}
          {items.map((item, at) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: separators have no other identity.
              <DropdownMenu.Separator key={at} className="my-1 h-px bg-line" />
            ) : (
              <DropdownMenu.Item
                key={item.text}
                disabled={item.disabled ?? false}
                onSelect={item.onSelect}
                className={classes(
                  'flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:text-soft',
                  item.danger && 'text-bad [&_svg]:text-bad',
                )}
              >
                {item.icon}
                {item.text}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
