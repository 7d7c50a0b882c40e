import { useState } from 'react'
import { type Scope, scopes as scope_sentences } from '#contract/scopes.ts'
import { agentName, type Grant, useRemoveScope } from '#panel/grants.ts'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { X } from '#panel/ui/icons.ts'
import { toast } from '#panel/ui/toast.tsx'

/** The owner's sentence for a scope; a scope of a newer server has none. */
export const scopeSentence = (scope: string): string => scope_sentences[scope as Scope] ?? scope

/** Takes one permission from an agent, after a question. */
export function RemoveScope({ grant, scope }: { grant: Grant; scope: string }) {
  const [is_asking, setAsking] = useState(false)
  const remove = useRemoveScope(() => {
    toast(`Permission removed from ${agentName(grant)}.`)
    setAsking(false)
  })
  return (
    <>
      {/* 28 px high, moved up to the middle of the first line of text, which is 20 px high. */}
      <Button
        size="small"
        kind="quiet"
        className="-my-1 size-7 px-0"
        onClick={() => setAsking(true)}
      >
        <X aria-hidden />
        <span className="sr-only">Remove “{scopeSentence(scope)}”</span>
      </Button>
      <ConfirmDialog
        open={is_asking}
        onOpenChange={setAsking}
        title="Remove this permission?"
        confirm_label="Remove permission"
        danger
        busy={remove.isPending}
        problem={remove.error}
        onConfirm={() => remove.mutate({ id: grant.id, scope })}
      >
        <p>
          {agentName(grant)} loses this permission: “{scopeSentence(scope)}”
        </p>
        <p>
          This takes effect immediately. To give the permission back, connect the agent again.
          {scope === 'webhook:write' && ' Webhooks it created are disabled.'}
        </p>
      </ConfirmDialog>
    </>
  )
}
