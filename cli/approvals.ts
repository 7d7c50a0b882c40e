import { FlorinError } from '#client/client.ts'
import { operations } from '#contract/operations.ts'
import { columns } from './calls/columns.ts'
import { type ListOptions, showList } from './calls/list.ts'
import { printResponse } from './calls/output.ts'
import { type ConnectionOptions, clientFor, resolveConnection } from './profiles/connection.ts'
import { withProgress } from './progress.ts'
import { ask, askHidden } from './prompt.ts'

type ApprovalOptions = ConnectionOptions & ListOptions

/** Pending ones, unless --all asks for the decided ones too. */
export async function listApprovals({ all, ...options }: ApprovalOptions): Promise<void> {
  const client = clientFor(await resolveConnection(options))
  const input = all ? {} : ({ status: 'pending' } as const)
  const listing = () => client.list_approvals(input)
  const source = {
    load: () => withProgress('Waiting for the server', async () => listing()),
    rows: listing,
    columns: columns.list_approvals ?? [],
    output: operations.list_approvals.output,
  }
  await showList(source, options)
}

export async function decideApproval(
  id: string,
  decision: 'approve' | 'decline',
  options: ApprovalOptions,
): Promise<void> {
  const client = clientFor(await resolveConnection(options))
  const decide = (owner: OwnerProof = {}) =>
    withProgress('Waiting for the server', () => client.decide_approval({ id, decision, ...owner }))
  const approval = await decide().catch(async (cause) => decide(await askOwner(cause)))
  printResponse(approval, options.json ?? false)
}

type OwnerProof = { password?: string; totp_code?: string }

/** Asks for what a large amount needs: the password, and with two-factor authentication a code. */
async function askOwner(cause: unknown): Promise<OwnerProof> {
  const needsPassword =
    cause instanceof FlorinError && cause.details.some(({ field }) => field === 'password')
  if (!needsPassword || !process.stdin.isTTY) throw cause
  const password = await askHidden('Password: ')
  const totp_code = await ask('Authentication code (empty without two-factor): ')
  return { password, ...(totp_code !== '' && { totp_code }) }
}
