import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { FlorinError } from '#client/client.ts'
import type { OutputOfName } from '#contract/operations.ts'
import { callOperation } from '#panel/api.ts'
import { invalidateOperations } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { toast } from '#panel/ui/toast.tsx'

const PAGE_ROWS = 100

type Page = OutputOfName<'list_sessions'>

/** Includes sessions on pages of the list that aren't shown yet. */
async function otherSessionIds(): Promise<string[]> {
  const ids: string[] = []
  let input: { limit: number; cursor?: string } | null = { limit: PAGE_ROWS }
  while (input !== null) {
    const page: Page = await callOperation('list_sessions', input)
    ids.push(...page.data.filter(({ current }) => !current).map(({ id }) => id))
    input = page.next_cursor === null ? null : { limit: PAGE_ROWS, cursor: page.next_cursor }
  }
  return ids
}

/** A session that ended in the meantime is not found, which is the result we want. */
async function endOtherSessions(): Promise<void> {
  for (const id of await otherSessionIds()) {
    try {
      await callOperation('revoke_session', { id })
    } catch (cause) {
      if (!(cause instanceof FlorinError && cause.code === 'not_found')) throw cause
    }
  }
}

export function EndOtherSessions() {
  const [is_open, setOpen] = useState(false)
  const mutation = useMutation<void, FlorinError>({
    mutationFn: endOtherSessions,
    // Some may have ended before one could not be.
    onSettled: () => invalidateOperations(['list_sessions', 'get_activity']),
    onSuccess: () => {
      setOpen(false)
      toast('Signed out everywhere else.')
    },
  })
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        Sign out everywhere else
      </Button>
      <ConfirmDialog
        open={is_open}
        onOpenChange={setOpen}
        title="Sign out everywhere else?"
        confirm_label="Sign out everywhere else"
        danger
        busy={mutation.isPending}
        problem={mutation.error}
        onConfirm={() => mutation.mutate()}
      >
        <p>
          All other devices are signed out immediately. You stay signed in here. API keys and
          connected apps keep working. If you don’t recognize a device, change your password too.
        </p>
      </ConfirmDialog>
    </>
  )
}
