import { type ComponentProps, type ReactNode, useId } from 'react'
import { classes } from './classes.ts'
import { ChevronDown } from './icons.ts'
import { USD_PATTERN } from './money.tsx'

/**
 * pointer-coarse: iOS zooms into fields whose text is smaller than 16 px. scroll-my: the label and
 * the error stay in sight when a refused field gets the focus.
 */
const control_class =
  'h-9 w-full min-w-0 scroll-my-9 rounded-lg border border-line-strong/60 bg-sheet px-3 text-ink placeholder:text-soft hover:border-line-strong focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad aria-invalid:outline-bad pointer-coarse:text-lg'

type FieldLabelProps = {
  label: string
  hint?: ReactNode
  /** A validation error; replaces the hint, which usually says the same. */
  error?: string | undefined
  /** Shows the label to screen readers only. */
  is_label_hidden?: boolean
}

type FrameProps = FieldLabelProps & {
  id: string
  /** Shows the hint below the error too. */
  keeps_hint?: boolean
  className?: string | undefined
  children: ReactNode
}

function FieldFrame({
  id,
  label,
  hint,
  error,
  keeps_hint = false,
  is_label_hidden,
  className,
  children,
}: FrameProps) {
  const is_hint_shown = hint !== undefined && (error === undefined || keeps_hint)
  return (
    <div className={classes('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className={is_label_hidden ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children}
      {error !== undefined && (
        <p id={`${id}-note`} className="text-sm text-bad">
          {error}
        </p>
      )}
      {is_hint_shown && (
        <p id={error === undefined ? `${id}-note` : undefined} className="text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}

type FieldProps = Omit<ComponentProps<'input'>, 'id'> &
  Omit<FrameProps, 'id' | 'children'> & { before?: ReactNode }

/** A labeled input. `before` is shown inside, at the start: a dollar sign, a search icon. */
export function Field({
  label,
  hint,
  error,
  keeps_hint = false,
  is_label_hidden = false,
  before,
  className,
  ...rest
}: FieldProps) {
  const id = useId()
  const frame = { id, label, hint, error, keeps_hint, is_label_hidden, className }
  const input = (
    <input
      {...rest}
      {...describedBy(id, error, hint)}
      className={classes(control_class, before !== undefined && 'pl-8')}
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

/** An amount in USD, with a decimal keypad on phones. Only a form refuses other text. */
export function MoneyField(props: Omit<FieldProps, 'before' | 'type' | 'inputMode'>) {
  return (
    <Field
      placeholder="0.00"
      autoComplete="off"
      {...props}
      type="text"
      inputMode="decimal"
      pattern={USD_PATTERN}
      title="Enter an amount, like 25 or 25.50"
      before="$"
    />
  )
}

type SelectProps = Omit<ComponentProps<'select'>, 'id'> &
  FieldLabelProps & {
    /** For plain options; pass optgroup elements as children instead. */
    options?: readonly (readonly [value: string, text: string])[]
  }

/** A native select, which works with every keyboard, phone and screen reader. */
export function Select({
  label,
  hint,
  error,
  is_label_hidden,
  options = [],
  className,
  children,
  ...rest
}: SelectProps) {
  const id = useId()
  const frame = { id, label, hint, error, is_label_hidden: is_label_hidden ?? false, className }
  return (
    <FieldFrame {...frame}>
      <div className="relative">
        <select
          {...rest}
          {...describedBy(id, error, hint)}
          className={classes(control_class, 'appearance-none truncate pr-8')}
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

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'id'> & FieldLabelProps

export function TextArea({
  label,
  hint,
  error,
  is_label_hidden,
  className,
  ...rest
}: TextAreaProps) {
  const id = useId()
  const frame = { id, label, hint, error, is_label_hidden: is_label_hidden ?? false, className }
  return (
    <FieldFrame {...frame}>
      <textarea
        rows={4}
        {...rest}
        {...describedBy(id, error, hint)}
        className={classes(control_class, 'h-auto py-2')}
      />
    </FieldFrame>
  )
}

const describedBy = (id: string, error: string | undefined, hint: ReactNode) => ({
  id,
  ...(error !== undefined && { 'aria-invalid': true }),
  'aria-describedby': error !== undefined || hint !== undefined ? `${id}-note` : undefined,
})
