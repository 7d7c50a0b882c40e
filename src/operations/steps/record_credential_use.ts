import type { Invocation } from '#operations/invocation.ts'

/** Records when and from where API keys and OAuth grants are used. Sessions record their own. */
export function recordCredentialUse(invocation: Invocation): void | Promise<void> {
  const { runtime, operation, caller, request } = invocation
  if (caller === null || caller.kind === 'session') return
  return runtime.key_uses.note(caller, request, operation.name) ?? undefined
}
