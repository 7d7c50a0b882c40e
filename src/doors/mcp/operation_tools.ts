import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { requireAccess, scopesFor } from '#operations/steps/require_access.ts'
import type { Tools } from './exchange.ts'
import { runOperation, toolResult } from './run_operation.ts'
import { toolList } from './tool_list.ts'

const shapeOf = (name: string): OperationShape => operations[name as OperationName]

/** Every operation is a tool, and enters the same pipeline as REST. */
export const operation_tools: Tools = {
  list: ({ settings }, caller) => toolList(settings.x402, caller),
  has: (name) => Object.hasOwn(operations, name),
  isOpen: (name) => shapeOf(name).access === 'anyone',
  isAllowed: ({ name }, caller) => {
    try {
      requireAccess(shapeOf(name), caller)
      return true
    } catch (cause) {
      if (cause instanceof Problem) return false
      throw cause
    }
  },
  scopesFor: ({ name, arguments: given }) => scopesFor(shapeOf(name), given),
  // Uploads take long enough for somebody to wonder.
  isLong: (name) => name === 'add_dispute_evidence',
  run: runOperation,
  resultOf: toolResult,
}
