import { useState } from 'react'
import { agentName, type Grant, useRevokeGrant } from '#panel/grants.ts'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { toast } from '#panel/ui/toast.tsx'

/** Ends the access of an agent, after a question. */
export function RevokeButton({ grant }: { grant: Grant }) {
  const [is_asking, setAsking] = useState(false)
  const revoke = useRevokeGrant(() => {
    toast(`Access revoked for ${agentName(grant)}.`)
    setAsking(false)
  })
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        Revoke<span className="sr-only"> {agentName(grant)}</span>
      </Button>
      <ConfirmDialog
        open={is_asking}
        onOpenChange={setAsking}
        title={`Revoke access for ${agentName(grant)}?`}
        confirm_label="Revoke access"
        danger
        busy={revoke.isPending}
        problem={revoke.error}
        onConfirm={() => revoke.mutate(grant.id)}
      >
        <p>Its tokens stop working immediately. You can connect it again later.</p>
      </ConfirmDialog>
    </>
  )
}
