import { type ReactNode, useCallback, useEffect, useState } from 'react'
import type { Card, PanReveal } from '#contract/cards.ts'
import { requestJson } from '#panel/api.ts'
import { type OwnerProof, PasswordForm } from '#panel/pages/security/password_form.tsx'
import { serviceNow } from '#panel/service_clock.ts'
import { Button } from '#panel/ui/button.tsx'
import { CardFace, cardTitle } from '#panel/ui/card_face.tsx'
import { CopyButton } from '#panel/ui/copy.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { Eye } from '#panel/ui/icons.ts'
import { useNow } from '#panel/ui/time.tsx'

const SHOWN_MS = 60_000

const reveal = (card_id: string, owner: OwnerProof): Promise<PanReveal> =>
  requestJson('/oauth/card_reveals', { method: 'POST', body: { card_id, ...owner } })

/** The card, and a dialog that shows its number for one minute. */
export function Reveal({ card }: { card: Card }) {
  const [is_open, setOpen] = useState(false)
  // The same function each time: a new one would start the minute again whenever the card changes.
  const close = useCallback(() => setOpen(false), [])
  return (
    <div>
      <CardFace card={card} />
      {card.status !== 'cancelled' && (
        <Button className="mt-3 w-full" onClick={() => setOpen(true)}>
          <Eye /> Reveal card number
        </Button>
      )}
      {is_open && <RevealDialog card={card} onClose={close} />}
    </div>
  )
}

/**
 * The number is kept only in this component's state, never in the query cache or in storage, and
 * closing the dialog drops it.
 */
function RevealDialog({ card, onClose }: { card: Card; onClose(): void }) {
  const [shown, setShown] = useState<PanReveal | null>(null)
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(onClose, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown, onClose])
  const question = 'Enter your password to see the full card number for one minute.'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={shown === null ? 'Reveal card number' : cardTitle(card)}
      {...(shown === null && { description: question })}
    >
      {shown === null ? (
        <PasswordForm
          submit={(owner) => reveal(card.id, owner).then(setShown)}
          action="Reveal"
          onCancel={onClose}
        />
      ) : (
        <RevealedDetails shown={shown} onDone={onClose} />
      )}
    </Dialog>
  )
}

const formatPan = (pan: string) => pan.replaceAll(/(.{4})(?=.)/g, '$1 ')

function RevealedDetails({ shown, onDone }: { shown: PanReveal; onDone(): void }) {
  const [until] = useState(() => serviceNow() + SHOWN_MS)
  const left_s = Math.max(0, Math.ceil((until - useNow()) / 1_000))
  const { pan, expiry, cvv } = shown
  return (
    <>
      <dl className="divide-y divide-line rounded-lg border border-line">
        <Detail name="Card number" value={formatPan(pan)} testid="pan">
          <CopyButton text={pan} label="Copy card number" />
        </Detail>
        <Detail name="Expires" value={expiry}>
          <CopyButton text={expiry} label="Copy expiration date" />
        </Detail>
        <Detail name="CVV" value={cvv}>
          <CopyButton text={cvv} label="Copy CVV" />
        </Detail>
      </dl>
      <DialogActions>
        <p className="num mr-auto self-center text-sm text-soft">Hides in {left_s} s</p>
        <Button onClick={onDone}>Hide now</Button>
      </DialogActions>
    </>
  )
}

type DetailProps = { name: string; value: string; testid?: string; children: ReactNode }

function Detail({ name, value, testid, children }: DetailProps) {
  return (
    <div className="py-2 pr-2 pl-4">
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="-mt-1 flex items-center justify-between gap-3">
        <span className="num font-mono text-lg tracking-wide" data-testid={testid}>
          {value}
        </span>
        {children}
      </dd>
    </div>
  )
}
