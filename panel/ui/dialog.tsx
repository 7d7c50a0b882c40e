import * as Radix from '@radix-ui/react-dialog'
import { type FormEvent, type ReactNode, useRef } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { useFocusReturn } from './focus_return.ts'
import { X } from './icons.ts'

type Props = {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  description?: ReactNode
  /** A click outside does not close it: for secrets that are shown only once. */
  is_pinned?: boolean
  children: ReactNode
}

/** As high as the content, so that a question over a sheet covers the sheet. */
const overlay_class = 'fixed inset-0 z-50 bg-veil'

/** Centered on a wide screen, a bottom sheet on a phone. */
export function Dialog(props: Props & { wide?: boolean }) {
  return (
    <DialogFrame
      {...props}
      className={classes(
        'rise inset-x-0 bottom-0 max-h-[92dvh] rounded-t-2xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-full sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-2xl',
        props.wide ? 'sm:max-w-2xl' : 'sm:max-w-md',
      )}
    />
  )
}

/** A full-height panel at the right edge, for details beside a list. */
export function Sheet(props: Props) {
  return (
    <DialogFrame
      {...props}
      stays_open_when_sent
      className="slide inset-y-0 right-0 w-full max-w-md border-y-0 border-r-0 sm:rounded-l-2xl"
    />
  )
}

type FrameProps = Props & { className: string; stays_open_when_sent?: boolean }

const text_fields = 'textarea, input:not([type=checkbox], [type=radio])'

/**
 * Radix's Overlay locks scrolling with an inline style element, which the content security policy
 * blocks. This renders its own overlay, and styles.css locks scrolling.
 */
function DialogFrame({
  open,
  onOpenChange,
  title,
  description,
  is_pinned = false,
  stays_open_when_sent = false,
  children,
  className,
}: FrameProps) {
  /** A click outside must not discard what was typed. Escape and the buttons still close it. */
  const has_typed = useRef(false)
  const noteInput = ({ target }: FormEvent) => {
    if ((target as Element).matches(text_fields)) has_typed.current = true
  }
  const { noteOpener, returnFocus } = useFocusReturn()
  const begin = (opening: Event) => {
    noteOpener()
    has_typed.current = false
    focusFirstField(opening)
  }
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className={overlay_class} data-locks-scroll aria-hidden />
        <Radix.Content
          className={classes(
            'fixed z-50 flex flex-col border border-line bg-sheet text-ink shadow-2xl outline-none',
            className,
          )}
          onOpenAutoFocus={begin}
          onCloseAutoFocus={returnFocus}
          onInput={noteInput}
          onSubmit={() => {
            if (stays_open_when_sent) has_typed.current = false
          }}
          onPointerDownOutside={(click) => {
            if (has_typed.current || is_pinned) click.preventDefault()
          }}
          {...(description === undefined && { 'aria-describedby': undefined })}
        >
          <header className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0">
              <Radix.Title className="text-lg font-semibold wrap-anywhere">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-soft wrap-anywhere">
                  {description}
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <Button kind="quiet" size="icon" aria-label="Close" className="-mt-1 -mr-2">
                <X />
              </Button>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-1 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Radix would focus the close button, which comes first. Without a field, it is "Cancel". */
function focusFirstField(opening: Event): void {
  const content = opening.currentTarget as HTMLElement
  const first = content.querySelector<HTMLElement>('input, select, textarea, [data-actions] button')
  if (first === null) return
  opening.preventDefault()
  first.focus()
}

export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div data-actions className="mt-5 flex flex-wrap justify-end gap-2 max-sm:*:flex-1">
      {children}
    </div>
  )
}

type FormActionsProps = {
  label: string
  kind?: 'main' | 'danger'
  busy: boolean
  disabled?: boolean
  onCancel(): void
}

/** The actions of a form in a dialog: "Cancel", and the button that sends it. */
export function FormActions({ label, kind = 'main', onCancel, ...sending }: FormActionsProps) {
  return (
    <DialogActions>
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" kind={kind} {...sending}>
        {label}
      </Button>
    </DialogActions>
  )
}
