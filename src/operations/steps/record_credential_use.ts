import type { Invocation } from '#operations/invocation.ts'

/** Records when and from where sessions, API keys and OAuth grants are used. */
export function recordCredentialUse(invocation: Invocation): void | Promise<void> {
  const { runtime, operation, caller, request } = invocation
  if (caller === null) return
  return runtime.key_uses.note(caller, request, operation.name) ?? undefined
}
