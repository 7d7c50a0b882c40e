import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { mayCall, scopesFor } from '#operations/steps/require_access.ts'
import type { Tools } from './exchange.ts'
import { runOperation, toolResult } from './run_operation.ts'
import { toolList } from './tool_list.ts'

const shapeOf = (name: string): OperationShape => operations[name as OperationName]

/** Every operation is a tool and runs through the same pipeline as REST. */
export const operation_tools: Tools = {
  list: ({ settings }, caller) => toolList(settings.x402, caller),
  has: (name) => Object.hasOwn(operations, name),
  isOpen: (name) => shapeOf(name).access === 'anyone',
  isAllowed: ({ name, arguments: given }, caller) => mayCall(shapeOf(name), caller, given),
  scopesFor: ({ name, arguments: given }) => scopesFor(shapeOf(name), given),
  // Uploads take long enough for progress notifications.
  isLong: (name) => name === 'add_dispute_evidence',
  rateSubject: ({ runtime, request: { ip } }, { name }, caller) =>
    rateSubjectOf(runtime, { ip, operation: shapeOf(name), caller }),
  run: runOperation,
  resultOf: toolResult,
}
