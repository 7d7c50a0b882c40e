import { Eye, EyeOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import type { Card, PanReveal } from '#contract/cards.ts'
import { Button } from '#panel/ui/button.tsx'
import { CardFace } from '#panel/ui/card_face.tsx'
import { CopyButton } from '#panel/ui/copy.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { useNow } from '#panel/ui/time.tsx'
import { revealWithConsent } from './reveal_grant.ts'

const SHOWN_MS = 60_000

/**
 * The card, with its number for one minute after consent. The number is kept only in this
 * component's state, never in the query cache or in storage.
 */
export function Reveal({ card }: { card: Card }) {
  const [shown, setShown] = useState<PanReveal | null>(null)
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(() => setShown(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  const reveal = async () => {
    setBusy(true)
    setProblem(null)
    try {
      setShown(await revealWithConsent(card.id))
    } catch (cause) {
      setProblem(cause as FlorinError)
    }
    setBusy(false)
  }
  return (
    <div>
      <CardFace card={card}>{shown === null ? null : <RevealedDetails shown={shown} />}</CardFace>
      {card.status !== 'cancelled' && (
        <div className="mt-3">
          {shown === null ? (
            <Button className="w-full" busy={is_busy} onClick={() => void reveal()}>
              {!is_busy && <Eye />} {is_busy ? 'Waiting for approval' : 'Reveal card number'}
            </Button>
          ) : (
            <RevealedActions shown={shown} onHide={() => setShown(null)} />
          )}
        </div>
      )}
      <ProblemNote problem={problem} />
    </div>
  )
}

const formatPan = (pan: string) => pan.replaceAll(/(.{4})(?=.)/g, '$1 ')

function RevealedDetails({ shown }: { shown: PanReveal }) {
  return (
    <div className="font-mono">
      <p className="num text-lg tracking-wider" data-testid="pan">
        {formatPan(shown.pan)}
      </p>
      <p className="num mt-1 text-sm">CVV {shown.cvv}</p>
    </div>
  )
}

function RevealedActions({ shown, onHide }: { shown: PanReveal; onHide(): void }) {
  const [until] = useState(() => Date.now() + SHOWN_MS)
  const left_s = Math.max(0, Math.ceil((until - useNow()) / 1_000))
  return (
    <div className="flex flex-wrap items-center gap-2">
      <CopyButton text={shown.pan} label="Copy number" is_label_visible />
      <CopyButton text={shown.cvv} label="Copy CVV" is_label_visible />
      <Button kind="quiet" className="ml-auto" onClick={onHide}>
        <EyeOff /> Hide <span className="num">({left_s}s)</span>
      </Button>
    </div>
  )
}
