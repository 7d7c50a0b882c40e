import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { queryClient, useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Ellipsis, RefreshCw, Snowflake, Sun, Trash } from '#panel/ui/icons.ts'
import { Menu } from '#panel/ui/menu.tsx'
import { formatUsd } from '#panel/ui/money.tsx'
import { toast } from '#panel/ui/toast.tsx'

type OpenDialog = 'replace' | 'cancel' | null

export function CardActions({ card }: { card: Card }) {
  const [open_dialog, setOpenDialog] = useState<OpenDialog>(null)
  const close = () => setOpenDialog(null)
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
          { text: 'Replace card', icon: <RefreshCw />, onSelect: () => setOpenDialog('replace') },
          {
            text: 'Cancel card',
            icon: <Trash />,
            danger: true,
            onSelect: () => setOpenDialog('cancel'),
          },
        ]}
      />
      <Replace card={card} open={open_dialog === 'replace'} onClose={close} />
      <Cancel card={card} open={open_dialog === 'cancel'} onClose={close} />
    </>
  )
}

/** Optimistic update: shows the new status and returns the rollback. */
function showOptimisticStatus(card: Card, status: Card['status']): () => void {
  const key = ['get_card', { id: card.id }]
  queryClient.setQueryData(key, { ...card, status })
  return () => queryClient.setQueryData(key, card)
}

function FreezeButton({ card }: { card: Card }) {
  const freeze_card = useOperationMutation('freeze_card', {
    onMutate: () => showOptimisticStatus(card, 'frozen'),
    onSuccess: () => toast('Card frozen. Purchases are declined until you unfreeze it.'),
    onError: ({ message }) => toast(message, 'bad'),
  })
  const unfreeze_card = useOperationMutation('unfreeze_card', {
    onMutate: () => showOptimisticStatus(card, 'active'),
    onSuccess: () => toast('Card unfrozen.'),
    onError: ({ message }) => toast(message, 'bad'),
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

type ConfirmProps = { card: Card; open: boolean; onClose(): void }

function Replace({ card, open, onClose }: ConfirmProps) {
  const [, navigate] = useLocation()
  const replace_card = useOperationMutation('replace_card', {
    onSuccess: (fresh) => {
      onClose()
      toast('Card replaced.')
      navigate(`/cards/${fresh.id}`)
    },
  })
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onClose}
      title={`Replace ${cardTitle(card)}?`}
      confirm_label="Replace card"
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
    </ConfirmDialog>
  )
}

function Cancel({ card, open, onClose }: ConfirmProps) {
  const cancel_card = useOperationMutation('cancel_card', {
    onSuccess: () => {
      onClose()
      toast('Card canceled.')
    },
  })
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onClose}
      title={`Cancel ${cardTitle(card)}?`}
      confirm_label="Cancel card"
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
    </ConfirmDialog>
  )
}
