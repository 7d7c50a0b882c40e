import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { refetch } from './refetch.ts'

test('a first fetch that began before a change does not hide it', async () => {
  const client = new QueryClient()
  let status = 'active'
  const queryFn = () => wait(20, status)
  const observer = new QueryObserver(client, { queryKey: ['/accounts'], queryFn })
  const stop = observer.subscribe(() => undefined)
  status = 'suspended'
  await refetch(client, { queryKey: ['/accounts'] })
  assert.equal(client.getQueryData(['/accounts']), 'suspended')
  stop()
  client.clear()
})
