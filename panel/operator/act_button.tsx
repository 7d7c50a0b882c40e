import { type ReactNode, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { Confirm } from '#panel/ui/confirm.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { useOperatorAct } from './operator_api.ts'

type Props = {
  /** The verb on the button, and again on the question's. */
  verb: string
  /** What a reader hears where several buttons say the same. */
  label?: string
  path: string
  changes: readonly string[]
  /** What is said when it is done. */
  done: string
  dismiss_label?: string
  danger?: boolean
  /** What it does, for whom, and whether it can be undone. */
  children: ReactNode
}

/** An act that asks first: what operators do is done to other people's money. */
export function ActButton({ verb, label, path, changes, done, children, ...rest }: Props) {
  const [is_open, setOpen] = useState(false)
  const act = useOperatorAct<void>({
    method: 'POST',
    path: () => path,
    changes,
    done: () => {
      setOpen(false)
      toast(done)
    },
  })
  return (
    <>
      <Button aria-label={label ?? verb} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Confirm
        open={is_open}
        onOpenChange={setOpen}
        title={`${verb}?`}
        verb={verb}
        {...rest}
        busy={act.isPending}
        problem={act.error}
        onConfirm={() => act.mutate()}
      >
        {children}
      </Confirm>
    </>
  )
}
