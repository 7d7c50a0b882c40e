import { card_policies } from '#contract/card_policies.ts'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { agent_tools } from '#doors/agent_tools.ts'
import { mayCall } from '#operations/steps/require_access.ts'
import type { Caller } from '#platform/context.ts'

const written = agent_tools.map((tool) => ({ name: tool.name, text: JSON.stringify(tool) }))

const REMEMBERED_MAX = 1_000
const lists = new Map<string, string>()

/** The answer to tools/list: what this credential may call, and nothing else. */
export function toolList(caller: Caller): string {
  const rights = `${caller.kind}|${[...caller.scopes].sort().join(' ')}|${caller.card_ids === null}`
  let list = lists.get(rights)
  if (list === undefined) {
    const texts = written.filter(({ name }) => isShown(name, caller)).map(({ text }) => text)
    list = `{"tools":[${texts.join(',')}]}`
    if (lists.size >= REMEMBERED_MAX) lists.clear()
    lists.set(rights, list)
  }
  return list
}

function isShown(name: keyof typeof operations, caller: Caller): boolean {
  const shape: OperationShape = operations[name]
  if (caller.card_ids !== null && card_policies[name] === 'denied') return false
  return mayCall(shape, caller)
}
