import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { Withdrawal } from '#contract/withdrawals.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'
import { bodyOf, forwardResponse, readBody } from './control.ts'
import { runTasksUntil } from './run_tasks_until.ts'
import { FINAL_BLOCKS, requireEmpty } from './topups.ts'
import type { TronNode } from './tron_node.ts'

type Action = (
  runAction: { node: TronNode; look: Look; host: SandboxHost },
  id: string,
) => Promise<void>
type Look = () => Promise<Withdrawal>

const TASKS = ['send_withdrawals', 'confirm_withdrawals'] as const

/** Confirms or fails a withdrawal on the sandbox's chain; each call returns the Withdrawal. */
export function sandboxWithdrawals(node: TronNode, save: () => void): Surface {
  return (app, host) => {
    const runAction = async (request: FastifyRequest, reply: FastifyReply, outcome: Outcome) => {
      const { id } = request.params as { id: string }
      await host.callerOf(request.headers.authorization)
      const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
      const call = () => host.call('get_withdrawal', { id }, bearer)
      const look = async () => bodyOf(await call()) as unknown as Withdrawal
      requireEmpty(readBody(request))
      const found = await call()
      if (found.status !== 200) return forwardResponse(reply, found)
      const { status } = await look()
      if (isOpen(status)) await actions[outcome]({ node, look, host }, id)
      else requireSame(status, outcome)
      save()
      return forwardResponse(reply, await call())
    }
    app.post('/sandbox/v1/withdrawals/:id/confirm', (request, reply) =>
      runAction(request, reply, 'completed'),
    )
    app.post('/sandbox/v1/withdrawals/:id/fail', (request, reply) =>
      runAction(request, reply, 'failed'),
    )
  }
}

type Status = Withdrawal['status']
type Outcome = 'completed' | 'failed'

const isOpen = (status: Status) => status === 'pending' || status === 'broadcasted'

/** A repeat changes nothing; the opposite is impossible, because the chain has decided. */
function requireSame(status: Status, outcome: Outcome): void {
  if (status === outcome) return
  throw new Problem('invalid_request', `This withdrawal is ${status} already.`, { status: 409 })
}

const confirm: Action = async ({ node, look, host }) => {
  if (!(await isSent(host, look))) return
  await settle(node, host, look)
}

/** Makes the transfer revert. A reorg first removes it from its block if it is not final. */
const fail: Action = async ({ node, look, host }) => {
  if (!(await isSent(host, look))) return
  const { txid } = await look()
  if (txid === null) return
  const end = node.fault({ kind: 'reverted_transfer', txid, times: Number.POSITIVE_INFINITY })
  try {
    const block = node.blockOf(txid)
    if (block?.ok === true && block.number > node.finalized().number) {
      node.reorg({ depth: node.head().number - block.number + 1, keep: 'pool' })
    }
    await settle(node, host, look)
  } finally {
    end()
  }
}

const actions: Record<Outcome, Action> = { completed: confirm, failed: fail }

function isSent(host: SandboxHost, look: Look): Promise<boolean> {
  return runTasksUntil(host, TASKS, async () => {
    const is_there = (await look()).status !== 'pending'
    return { is_there, seen: is_there }
  })
}

async function settle(node: TronNode, host: SandboxHost, look: Look): Promise<void> {
  node.mine(FINAL_BLOCKS + 1)
  await runTasksUntil(host, TASKS, async () => {
    const is_there = !isOpen((await look()).status)
    // A transfer that a fork removed is sent again and then needs new blocks.
    if (!is_there) node.mine()
    return { is_there, seen: null }
  })
}
