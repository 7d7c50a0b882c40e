import { type FormEvent, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { usdIn } from '#panel/ui/money.tsx'
import { faultOf, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { useOperatorAct } from './operator_api.ts'
import type { UnpricedClearing } from './shapes.ts'

type Props = { of: UnpricedClearing; amount: string; onClose(): void }

/** Dollars are said once: what was said is booked on the card within seconds. */
export function PriceClearing({ of, amount, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const act = useOperatorAct<void>({
    method: 'POST',
    path: () => `/unpriced_clearings/${of.id}/price`,
    body: () => ({ amount_usd: usdIn(typed) }),
    changes: ['/unpriced_clearings'],
    done: () => {
      onClose()
      toast('Said. It is booked within seconds.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    act.mutate()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`${amount} at ${of.merchant_name}`}
      description={`${sentences[of.kind]} It is said once; a mistake is mended by an adjustment.`}
    >
      <form onSubmit={submit}>
        <MoneyField
          label="In dollars"
          required
          hint="In whole cents, as the network bills it."
          value={typed}
          onChange={(change) => setTyped(change.target.value)}
          fault={faultOf(act.error, 'amount_usd')}
        />
        <ProblemNote problem={act.error} />
        <DialogActions>
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" kind="main" busy={act.isPending}>
            Book it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const sentences: Record<UnpricedClearing['kind'], string> = {
  advise: 'The network approved it for us; what you say is held on the card.',
  capture: 'What you say is taken from the card.',
  refund: 'What you say goes back to the card.',
}
