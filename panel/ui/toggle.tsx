import * as Switch from '@radix-ui/react-switch'
import { type ReactNode, useId } from 'react'

type Props = {
  label: string
  hint?: ReactNode
  checked: boolean
  disabled?: boolean
  onChange(checked: boolean): void
}

/** A switch that takes effect immediately, without a form. */
export function Toggle({ label, hint, checked, disabled = false, onChange }: Props) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4 py-2">
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint !== undefined && <p className="text-sm text-soft">{hint}</p>}
      </div>
      <Switch.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
        className="h-6 w-10 shrink-0 rounded-full border border-line-strong bg-hover p-0.5 transition-colors disabled:opacity-60 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
      >
        <Switch.Thumb className="block size-4.5 rounded-full bg-soft transition-transform data-[state=checked]:translate-x-4 data-[state=checked]:bg-on-accent" />
      </Switch.Root>
    </div>
  )
}
