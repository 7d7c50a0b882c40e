import { Ellipsis, RefreshCw, Snowflake, Sun, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { queryClient, useAct } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { Confirm } from '#panel/ui/confirm.tsx'
import { Menu } from '#panel/ui/menu.tsx'
import { formatUsd } from '#panel/ui/money.tsx'
import { toast } from '#panel/ui/toast.tsx'

type Asked = 'replace' | 'cancel' | null

export function CardActions({ card }: { card: Card }) {
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  if (card.status === 'cancelled') return null
  const more = (
    <Button size="icon" aria-label="More actions">
      <Ellipsis />
    </Button>
  )
  return (
    <>
      <FreezeButton card={card} />
      <Menu
        trigger={more}
        items={[
          { text: 'Replace card', icon: <RefreshCw />, onSelect: () => setAsked('replace') },
          {
            text: 'Cancel card',
            icon: <Trash2 />,
            danger: true,
            onSelect: () => setAsked('cancel'),
          },
        ]}
      />
      <Replace card={card} open={asked === 'replace'} onClose={close} />
      <Cancel card={card} open={asked === 'cancel'} onClose={close} />
    </>
  )
}

/** Shown at once, and taken back if the service says no: nothing is lost by either. */
function showMeanwhile(card: Card, status: Card['status']): () => void {
  const key = ['get_card', { id: card.id }]
  queryClient.setQueryData(key, { ...card, status })
  return () => queryClient.setQueryData(key, card)
}

function FreezeButton({ card }: { card: Card }) {
  const freeze_card = useAct('freeze_card', {
    meanwhile: () => showMeanwhile(card, 'frozen'),
    done: () => toast('Card frozen. Purchases are declined until you unfreeze it.'),
    failed: ({ message }) => toast(message, 'bad'),
  })
  const unfreeze_card = useAct('unfreeze_card', {
    meanwhile: () => showMeanwhile(card, 'active'),
    done: () => toast('Card unfrozen.'),
    failed: ({ message }) => toast(message, 'bad'),
  })
  if (card.status === 'frozen') {
    return (
      <Button busy={unfreeze_card.isPending} onClick={() => unfreeze_card.mutate({ id: card.id })}>
        <Sun /> Unfreeze
      </Button>
    )
  }
  return (
    <Button busy={freeze_card.isPending} onClick={() => freeze_card.mutate({ id: card.id })}>
      <Snowflake /> Freeze
    </Button>
  )
}

type AskProps = { card: Card; open: boolean; onClose(): void }

function Replace({ card, open, onClose }: AskProps) {
  const [, navigate] = useLocation()
  const replace_card = useAct('replace_card', {
    done: (fresh) => {
      onClose()
      toast('Card replaced.')
      navigate(`/cards/${fresh.id}`)
    },
  })
  return (
    <Confirm
      open={open}
      onOpenChange={onClose}
      title={`Replace ${cardTitle(card)}?`}
      verb="Replace card"
      danger
      busy={replace_card.isPending}
      problem={replace_card.error}
      onConfirm={() => replace_card.mutate({ id: card.id })}
    >
      <p>
        You’ll get a new card number. The balance of {formatUsd(card.balance_usd)}, limits, and
        rules move to the new card. The old number stops working permanently.
      </p>
      {card.held_usd > 0 && (
        <p>{formatUsd(card.held_usd)} on hold stays with the old card until purchases settle.</p>
      )}
    </Confirm>
  )
}

function Cancel({ card, open, onClose }: AskProps) {
  const cancel_card = useAct('cancel_card', {
    done: () => {
      onClose()
      toast('Card canceled.')
    },
  })
  return (
    <Confirm
      open={open}
      onOpenChange={onClose}
      title={`Cancel ${cardTitle(card)}?`}
      verb="Cancel card"
      dismiss_label="Keep card"
      danger
      busy={cancel_card.isPending}
      problem={cancel_card.error}
      onConfirm={() => cancel_card.mutate({ id: card.id })}
    >
      <p>The card ending in {card.last4} stops working permanently. You can’t undo this.</p>
      <p>
        {formatUsd(card.balance_usd)} returns to your balance immediately.
        {card.held_usd > 0 && ` ${formatUsd(card.held_usd)} stays on hold until purchases settle.`}
      </p>
    </Confirm>
  )
}
