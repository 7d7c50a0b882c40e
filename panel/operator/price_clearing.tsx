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
      toast('USD amount saved. It posts to the card within seconds.')
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
      description={`${sentences[of.kind]} You can’t change it later; fix mistakes with an adjustment.`}
    >
      <form onSubmit={submit}>
        <MoneyField
          label="USD amount"
          required
          hint="The amount the network bills, in whole cents."
          value={typed}
          onChange={(change) => setTyped(change.target.value)}
          fault={faultOf(act.error, 'amount_usd')}
        />
        <ProblemNote problem={act.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="main" busy={act.isPending}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const sentences: Record<UnpricedClearing['kind'], string> = {
  advise: 'The network approved this purchase for us. The amount is held on the card.',
  capture: 'The amount is debited from the card.',
  refund: 'The amount is credited to the card.',
}
