import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { Topup } from '#contract/topups.ts'
import type { CallResponse, SandboxHost, Surface } from '#domain/context/surface.ts'
import { decimalsOf, formatUsd, MICRO_DECIMALS, microsFromUsd, USD_MAX } from '#kernel/money.ts'
import { isTronAddress } from '#rails/chain/tron/address.ts'
import { bodyOf, forwardResponse, invalid, readBody } from './control.ts'
import { runTasksUntil } from './run_tasks_until.ts'
import type { TronNode } from './tron_node.ts'

type SandboxChain = { node: TronNode; save(): void; host: SandboxHost }
type ActionContext = SandboxChain & { account_id: string }
type Action = (
  runAction: ActionContext,
  topup: Topup,
  body: Record<string, unknown>,
) => Promise<void>

/** The number of blocks that make the block before them final. */
export const FINAL_BLOCKS = 19

/** Triggers events of a top-up on the sandbox's chain; each call returns the Topup. */
export function sandboxTopups(node: TronNode, save: () => void): Surface {
  return (app, host) => {
    for (const [name, action] of Object.entries(actions)) {
      app.post(`/sandbox/v1/topups/:id/${name}`, (request, reply) =>
        runAction({ node, save, host }, action, { request, reply }),
      )
    }
  }
}

type Http = { request: FastifyRequest; reply: FastifyReply }

async function runAction(
  sandbox_chain: SandboxChain,
  action: Action,
  { request, reply }: Http,
): Promise<unknown> {
  const { host } = sandbox_chain
  const { id } = request.params as { id: string }
  const { account_id } = await host.callerOf(request.headers.authorization)
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const look = () => host.call('get_topup', { id }, bearer)
  const body = readBody(request)
  const found = await look()
  if (found.status !== 200) return forwardResponse(reply, found)
  await action(
    { ...sandbox_chain, account_id, host: withBearer(host, bearer) },
    topupOf(found),
    body,
  )
  sandbox_chain.save()
  return forwardResponse(reply, await look())
}

const topupOf = (response: CallResponse): Topup => bodyOf(response) as unknown as Topup

/** The host with calls made as the caller. */
function withBearer(host: SandboxHost, bearer: string): SandboxHost {
  return { ...host, call: (operation, input) => host.call(operation, input, bearer) }
}

const actions: Record<string, Action> = {
  deposit: async ({ node, host }, topup, body) => {
    requireOnSandboxChain(topup)
    const { amount_micros, from } = parseDeposit(body)
    requireFunds(node, amount_micros)
    const txid = node.transferUsdt({
      to: topup.deposit_address,
      amount_micros,
      ...(from === undefined ? {} : { from }),
    })
    node.mine()
    await runTasksUntil(host, ['watch_deposits'], async () => {
      const { txids } = await seen(host, topup.id)
      return { is_there: txids.includes(txid), seen: null }
    })
  },
  confirm: async ({ node, host }, topup, body) => {
    requireEmpty(body)
    node.mine(FINAL_BLOCKS)
    await runTasksUntil(host, ['watch_deposits'], async () => {
      const { status } = await seen(host, topup.id)
      return { is_there: status !== 'confirming', seen: null }
    })
  },
  expire: async ({ host, account_id }, topup, body) => {
    requireEmpty(body)
    await host.expireTopup(account_id, topup.id)
  },
  reorg: async ({ node, host }, topup, body) => {
    requireEmpty(body)
    const pending = topup.txids.filter((txid) => isPending(node, txid))
    const [deepest] = pending.map((txid) => node.blockOf(txid)?.number ?? 0).sort((a, b) => a - b)
    if (deepest === undefined) {
      throw new Problem('invalid_request', 'Nothing of this top-up is pending.', { status: 409 })
    }
    node.reorg({ depth: node.head().number - deepest + 1, keep: { all_but: pending } })
    await runTasksUntil(host, ['watch_deposits'], async () => {
      const { txids } = await seen(host, topup.id)
      return { is_there: !pending.some((txid) => txids.includes(txid)), seen: null }
    })
  },
}

async function seen(host: SandboxHost, id: string): Promise<Topup> {
  return topupOf(await host.call('get_topup', { id }))
}

function isPending(node: TronNode, txid: string): boolean {
  const block = node.blockOf(txid)
  return block !== null && block.number > node.finalized().number
}

/** The chain of an older sandbox has only a billion: a transfer of more would revert. */
function requireFunds(node: TronNode, amount_micros: bigint): void {
  const left_micros = node.balanceOf(node.exchange)
  if (left_micros >= amount_micros) return
  const left = formatUsd(left_micros)
  throw new Problem(
    'amount_out_of_range',
    `The sandbox's chain has only ${left} left to deposit. Start with a new data folder.`,
  )
}

function requireOnSandboxChain({ chain }: Topup): void {
  if (chain === 'tron') return
  throw new Problem('unsupported_chain', `The sandbox simulates only tron, not ${chain}.`)
}

export function requireEmpty(body: Record<string, unknown>): void {
  const [other] = Object.keys(body)
  if (other !== undefined) throw invalid(other, 'is not recognized')
}

function parseDeposit(body: Record<string, unknown>): { amount_micros: bigint; from?: string } {
  const { amount_usd, from, ...others } = body
  requireEmpty(others)
  if (typeof amount_usd !== 'number') throw invalid('amount_usd', 'must be a number')
  if (!(amount_usd > 0) || decimalsOf(amount_usd) > MICRO_DECIMALS) {
    throw new Problem(
      'invalid_amount',
      'amount_usd must be more than 0, with at most 6 decimal places.',
    )
  }
  if (amount_usd > USD_MAX) {
    throw new Problem('amount_out_of_range', `amount_usd must be at most ${USD_MAX}.`)
  }
  const amount_micros = microsFromUsd(amount_usd)
  if (from === undefined) return { amount_micros }
  if (typeof from !== 'string' || !isTronAddress(from)) {
    throw new Problem('invalid_address', 'from is not a TRON address.')
  }
  return { amount_micros, from }
}
