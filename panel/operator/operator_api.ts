import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { FlorinError } from '#client/client.ts'
import { requestJson } from '#panel/api.ts'
import { downloadFile } from '#panel/download.ts'
import { queryClient } from '#panel/queries.ts'
import { randomUuid } from '#panel/random_uuid.ts'
import { refetch } from '#panel/refetch.ts'
import { toast } from '#panel/ui/toast.tsx'

/**
 * The operator token is kept in sessionStorage, for the reasons given in session.ts, under its own
 * key: an operator may also have an account, and signing out of one must not sign out of the other.
 */
const KEY = 'florin_operator_token'
const listeners = new Set<() => void>()

export function saveToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, token)
  for (const notify of listeners) notify()
}

export function useToken(): string | null {
  return useSyncExternalStore(
    (notify) => {
      listeners.add(notify)
      return () => listeners.delete(notify)
    },
    () => sessionStorage.getItem(KEY),
  )
}

type CallOptions = { body?: object; token?: string; idempotency_key?: string }

/** Calls the operator API; `path` is relative to /operator/v1. */
export async function callOperator<Result>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH',
  path: string,
  { body, token, idempotency_key = randomUuid() }: CallOptions = {},
): Promise<Result> {
  const bearer = token ?? sessionStorage.getItem(KEY) ?? ''
  const headers = { ...(method !== 'GET' && { 'Idempotency-Key': idempotency_key }) }
  const options = { method, bearer, headers, ...(body !== undefined && { body }) }
  return requestJson<Result>(`/operator/v1${path}`, options).catch((cause: unknown) => {
    const isOver = cause instanceof FlorinError && cause.status === 401
    if (isOver && token === undefined) endSession(cause)
    throw cause
  })
}

/** A session with a second factor ends after eight hours, and any token can be revoked. */
function endSession({ message }: FlorinError): void {
  if (sessionStorage.getItem(KEY) === null) return
  toast(message, 'bad')
  signOut()
}

/** The next operator must not see what this one has loaded. */
export function signOut(): void {
  saveToken(null)
  queryClient.clear()
}

/** Saves a file of the operator API. */
export function downloadOperatorFile(path: string, file_name: string): Promise<void> {
  return downloadFile(`/operator/v1${path}`, file_name, sessionStorage.getItem(KEY) ?? '')
}

/** The path is the query key, so mutations invalidate by path. */
export function useOperatorQuery<Result>(path: string): UseQueryResult<Result, FlorinError> {
  return useQuery<Result, FlorinError>({
    queryKey: [path],
    queryFn: () => callOperator<Result>('GET', path),
  })
}

type OperatorMutationOptions<Input> = {
  method: 'POST' | 'PUT' | 'PATCH'
  path(input: Input): string
  body?(input: Input): object
  /**
   * Paths whose queries, and those of single objects below them, are refetched after success, and
   * when a refused action is left.
   */
  invalidates: readonly string[]
  onSuccess?(): void
}

export function useOperatorMutation<Input>(
  options: OperatorMutationOptions<Input>,
): UseMutationResult<unknown, FlorinError, Input> {
  const client = useQueryClient()
  const keys = useIdempotencyKeys()
  const reload = () =>
    void refetch(client, {
      predicate: ({ queryKey: [key] }) =>
        options.invalidates.some((path) => key === path || String(key).startsWith(`${path}/`)),
    })
  const mutation = useMutation<unknown, FlorinError, Input>({
    mutationFn: (input) => {
      const [path, body] = [options.path(input), options.body?.(input) ?? {}]
      const idempotency_key = keys.keyOf(`${path} ${JSON.stringify(body)}`)
      return callOperator(options.method, path, { body, idempotency_key })
    },
    onSettled: (_output, error) => {
      if (error === null || isRefusal(error)) keys.forget()
    },
    onSuccess: () => {
      reload()
      options.onSuccess?.()
    },
  })
  useAfterRefusal(mutation.error, reload)
  return mutation
}

/**
 * Runs when the form or question of a refused action is left: somebody else may have decided it
 * meanwhile. Earlier, the row could vanish from the list, and the reason with it.
 */
function useAfterRefusal(error: FlorinError | null, reload: () => void): void {
  const refused = useRef<(() => void) | null>(null)
  refused.current = error === null ? null : reload
  useEffect(() => () => refused.current?.(), [])
}

/**
 * If a response is lost, the page asks to try again, and nobody knows if the action took effect.
 * The same request then has the same key, so that a reply is not sent twice.
 */
function useIdempotencyKeys(): { keyOf(request: string): string; forget(): void } {
  const unsettled = useRef<{ request: string; key: string } | null>(null)
  return {
    keyOf: (request) => {
      if (unsettled.current?.request !== request) unsettled.current = { request, key: randomUuid() }
      return unsettled.current.key
    },
    forget: () => {
      unsettled.current = null
    },
  }
}

/** The service has decided, and nothing took effect. */
const isRefusal = ({ status, code }: FlorinError) =>
  status >= 400 && status < 500 && code !== 'idempotency_in_progress'
