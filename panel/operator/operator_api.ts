import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { FlorinError } from '#client/client.ts'
import { request } from '#panel/api.ts'
import { freshKey } from '#panel/fresh_key.ts'

/**
 * The operator's token lives in sessionStorage, for the reasons in session.ts, under its own name:
 * an operator may hold an account too, and signing out of one is not signing out of the other.
 */
const KEY = 'florin_operator_token'
const listeners = new Set<() => void>()

export function keepToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, token)
  for (const tell of listeners) tell()
}

export function useToken(): string | null {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => sessionStorage.getItem(KEY),
  )
}

/** A call of the operator's surface; `path` is relative to /operator/v1. */
export async function operatorCall<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH',
  path: string,
  { body, token }: { body?: object; token?: string } = {},
): Promise<Answer> {
  const bearer = token ?? sessionStorage.getItem(KEY) ?? ''
  const headers = { ...(method !== 'GET' && { 'Idempotency-Key': freshKey() }) }
  const sent = { method, bearer, headers, ...(body !== undefined && { body }) }
  return request<Answer>(`/operator/v1${path}`, sent)
}

/** Reads are keyed by their path, so that a prefix of it names all that lies below. */
export function useOperatorRead<Answer>(path: string): UseQueryResult<Answer, FlorinError> {
  return useQuery<Answer, FlorinError>({
    queryKey: [path],
    queryFn: () => operatorCall<Answer>('GET', path),
  })
}

type Act<Input> = {
  method: 'POST' | 'PUT' | 'PATCH'
  path(input: Input): string
  body?(input: Input): object
  /** The paths that are read again when it is done. */
  changes: readonly string[]
  done?(): void
}

export function useOperatorAct<Input>(
  act: Act<Input>,
): UseMutationResult<unknown, FlorinError, Input> {
  const client = useQueryClient()
  return useMutation<unknown, FlorinError, Input>({
    mutationFn: (input) =>
      operatorCall(act.method, act.path(input), { body: act.body?.(input) ?? {} }),
    onSuccess: () => {
      for (const path of act.changes) void client.invalidateQueries({ queryKey: [path] })
      act.done?.()
    },
  })
}
