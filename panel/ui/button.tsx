import { Slot } from '@radix-ui/react-slot'
import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { LoaderCircle } from './icons.ts'

const variants = cva(
  'inline-flex shrink-0 items-center justify-center gap-2 rounded-lg font-medium whitespace-nowrap transition-colors disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      kind: {
        main: 'bg-accent text-on-accent hover:bg-accent-hover',
        plain: 'border border-line bg-sheet text-ink hover:bg-hover',
        quiet: 'text-soft hover:bg-hover hover:text-ink',
        danger: 'bg-bad text-on-bad hover:bg-bad-hover',
      },
      size: {
        normal: 'h-9 px-3.5',
        small: 'h-8 px-2.5 text-sm',
        large: 'h-11 px-5 text-lg',
        icon: 'size-9',
      },
    },
    defaultVariants: { kind: 'plain', size: 'normal' },
  },
)

type Props = ComponentProps<'button'> &
  VariantProps<typeof variants> & {
    /** Shows a spinner and disables the button. */
    busy?: boolean
    /** Renders the child element with the look of a button, as in Radix. */
    asChild?: boolean
  }

export function Button({ kind, size, busy = false, asChild = false, className, ...rest }: Props) {
  const button_class = classes(variants({ kind, size }), className)
  if (asChild) return <Slot className={button_class} {...rest} />
  const { children, disabled, ...others } = rest
  return (
    <button
      type="button"
      {...others}
      className={button_class}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
    >
      {busy && <LoaderCircle className="animate-spin" aria-hidden />}
      {children}
    </button>
  )
}
