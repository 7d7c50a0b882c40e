import type { FlorinError } from '#client/client.ts'
import type { Approval } from '#contract/approvals.ts'
import { typographic } from '#kernel/typographic.ts'
import { PasswordForm } from '#panel/pages/security/password_form.tsx'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { classes } from '#panel/ui/classes.ts'
import { Dialog } from '#panel/ui/dialog.tsx'
import { Check, X } from '#panel/ui/icons.ts'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'

type Props = {
  approval: Approval
  /** True if the owner came here for this one. */
  is_linked: boolean
}

const APPROVED = 'Approved. The agent can make this call once, within an hour.'

/** Large amounts are refused until the owner sends the password. */
const needsPassword = (problem: FlorinError | null) =>
  problem?.details.some(({ field }) => field === 'password') === true

export function PendingApproval({ approval, is_linked }: Props) {
  const { id, expires_at } = approval
  const summary = typographic(approval.summary)
  const announce = ({ status }: Approval) => toast(status === 'approved' ? APPROVED : 'Declined.')
  const decide = useOperationMutation('decide_approval', { onSuccess: announce })
  const approve = useOperationMutation('decide_approval', { onSuccess: announce })
  const is_large = needsPassword(decide.error)
  return (
    <li className={classes(is_linked && 'rounded-xl outline-2 outline-accent')}>
      <Section>
        <p className="font-medium wrap-anywhere">{summary}</p>
        <p className="mt-1 text-sm text-soft">
          Expires <Time at={expires_at} />
        </p>
        <ProblemNote problem={is_large ? null : decide.error} />
        <div className="mt-4 flex flex-wrap gap-2">
          <Button
            kind="main"
            busy={decide.isPending}
            onClick={() => decide.mutate({ id, decision: 'approve' })}
          >
            <Check /> Approve
          </Button>
          <Button
            disabled={decide.isPending}
            onClick={() => decide.mutate({ id, decision: 'decline' })}
          >
            <X /> Decline
          </Button>
        </div>
      </Section>
      {is_large && (
        <Dialog
          open
          onOpenChange={decide.reset}
          title="Approve a large amount"
          description={`Enter your password to approve: ${summary}`}
        >
          <PasswordForm
            submit={(owner) => approve.mutateAsync({ id, decision: 'approve', ...owner })}
            action="Approve"
            onCancel={decide.reset}
          />
        </Dialog>
      )}
    </li>
  )
}
