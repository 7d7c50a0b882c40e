import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import type { Caller } from '#domain/context/context.ts'
import { agentTools } from '#doors/agent_tools.ts'
import { mayCall } from '#operations/steps/require_access.ts'
import { isForWholeAccount } from '#operations/steps/require_card_access.ts'
import type { X402Settings } from '#rails/x402/x402_settings.ts'

const REMEMBERED_MAX = 1_000
/**
 * By price settings, then by rights. A list is the schemas of all tools, so writing it takes longer
 * than most calls, and clients ask for it in each of their sessions.
 */
const lists_of = new WeakMap<X402Settings, Map<string, string>>()

/** The result of tools/list: only the tools this credential may call. */
export function toolList(x402: X402Settings, caller: Caller): string {
  const lists = lists_of.get(x402) ?? new Map<string, string>()
  lists_of.set(x402, lists)
  const rights = `${caller.kind}|${[...caller.scopes].sort().join(' ')}|${caller.card_ids === null}`
  let list = lists.get(rights)
  if (list === undefined) {
    const tools = agentTools(x402).filter(({ name }) => isShown(name, caller))
    list = JSON.stringify({ tools })
    if (lists.size >= REMEMBERED_MAX) lists.clear()
    lists.set(rights, list)
  }
  return list
}

function isShown(name: keyof typeof operations, caller: Caller): boolean {
  const shape: OperationShape = operations[name]
  if (caller.card_ids !== null && isForWholeAccount(name)) return false
  return mayCall(shape, caller)
}
