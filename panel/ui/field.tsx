import { ChevronDown } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { classes } from './classes.ts'

/** Smaller text than 16 px would make phones zoom into the field, hence pointer-coarse. */
export const control_look =
  'h-9 w-full min-w-0 rounded-lg border border-line-strong/60 bg-sheet px-3 text-ink placeholder:text-soft hover:border-line-strong focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad pointer-coarse:text-lg'

type Framed = {
  label: string
  /** What helps before a mistake is made. */
  hint?: ReactNode
  /** What is wrong with what stands in it. */
  fault?: string | undefined
  /** Seen by screen readers only, where the place says what it is. */
  hides_label?: boolean
}

type FrameProps = Framed & {
  id: string
  className?: string | undefined
  children: ReactNode
}

export function FieldFrame({
  id,
  label,
  hint,
  fault,
  hides_label,
  className,
  children,
}: FrameProps) {
  return (
    <div className={classes('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className={hides_label ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children}
      {fault !== undefined ? (
        <p id={`${id}-note`} className="text-sm text-bad">
          {fault}
        </p>
      ) : (
        hint !== undefined && (
          <p id={`${id}-note`} className="text-sm text-soft">
            {hint}
          </p>
        )
      )}
    </div>
  )
}

type FieldProps = Omit<ComponentProps<'input'>, 'id'> & Framed & { before?: ReactNode }

/** A labelled input. `before` stands inside, at its beginning: a dollar sign, a magnifier. */
export function Field({ label, hint, fault, hides_label, before, className, ...rest }: FieldProps) {
  const id = useId()
  const frame = { id, label, hint, fault, hides_label: hides_label ?? false, className }
  const input = (
    <input
      {...rest}
      {...noted(id, fault, hint)}
      className={classes(control_look, before !== undefined && 'pl-8')}
    />
  )
  return (
    <FieldFrame {...frame}>
      {before === undefined ? (
        input
      ) : (
        <div className="relative">
          <span className="pointer-events-none absolute inset-y-0 left-3 flex items-center text-soft [&_svg]:size-4">
            {before}
          </span>
          {input}
        </div>
      )}
    </FieldFrame>
  )
}

/** An amount of dollars: decimal keypad on phones, tabular figures, the sign in front. */
export function MoneyField(props: Omit<FieldProps, 'before' | 'type' | 'inputMode'>) {
  return (
    <Field
      placeholder="0.00"
      autoComplete="off"
      {...props}
      type="text"
      inputMode="decimal"
      pattern="\d+([.]\d{1,6})?"
      title="Enter an amount, like 25 or 25.50"
      before="$"
    />
  )
}

type SelectProps = Omit<ComponentProps<'select'>, 'id'> &
  Framed & {
    /** Or options as children, where they stand in groups. */
    options?: readonly (readonly [value: string, text: string])[]
  }

/** The browser's own list: it works with every keyboard, phone and reader. */
export function Select({
  label,
  hint,
  fault,
  hides_label,
  options = [],
  className,
  children,
  ...rest
}: SelectProps) {
  const id = useId()
  const frame = { id, label, hint, fault, hides_label: hides_label ?? false, className }
  return (
    <FieldFrame {...frame}>
      <div className="relative">
        <select
          {...rest}
          {...noted(id, fault, hint)}
          className={classes(control_look, 'appearance-none truncate pr-8')}
        >
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
          {children}
        </select>
        <ChevronDown
          aria-hidden
          className="pointer-events-none absolute top-2.5 right-2.5 size-4 text-soft"
        />
      </div>
    </FieldFrame>
  )
}

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'id'> & Framed

export function TextArea({ label, hint, fault, hides_label, className, ...rest }: TextAreaProps) {
  const id = useId()
  const frame = { id, label, hint, fault, hides_label: hides_label ?? false, className }
  return (
    <FieldFrame {...frame}>
      <textarea
        rows={4}
        {...rest}
        {...noted(id, fault, hint)}
        className={classes(control_look, 'h-auto py-2')}
      />
    </FieldFrame>
  )
}

const noted = (id: string, fault: string | undefined, hint: ReactNode) => ({
  id,
  'aria-invalid': fault !== undefined || undefined,
  'aria-describedby': fault !== undefined || hint !== undefined ? `${id}-note` : undefined,
})
