import { useState } from 'react'
import type { ApiKey } from '#contract/api_keys.ts'
import { useOperationList, useOperationMutation } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { createdColumn } from '#panel/ui/columns.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { KeyRound, Plus } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { CreateKey } from './create_key.tsx'

export function ApiKeys() {
  const list = useOperationList('list_api_keys', {})
  const [is_creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const columns: Column<ApiKey>[] = [
    { title: 'Name', cell: (key) => <KeyName api_key={key} /> },
    {
      title: 'Status',
      sortKey: ({ status }) => status,
      cell: ({ status }) => <Status of={status} />,
    },
    { title: 'Last used', wide_only: true, cell: (key) => <LastUse {...key} /> },
    createdColumn('Created'),
    {
      title: 'Actions',
      right: true,
      cell: (key) =>
        key.status === 'active' && (
          <Button size="small" onClick={() => setRevoking(key)}>
            Revoke<span className="sr-only"> {key.name ?? key.prefix}</span>
          </Button>
        ),
    },
  ]
  const create = (
    <Button size="small" kind="main" onClick={() => setCreating(true)}>
      <Plus /> Create API key
    </Button>
  )
  return (
    <Section title="API keys" action={create} flush>
      <Table
        label="API keys"
        list={list}
        columns={columns}
        empty={
          <EmptyState icon={KeyRound} title="No API keys">
            API keys have full access to your account. To give an agent limited access, connect it
            under Agents.
          </EmptyState>
        }
      />
      {is_creating && <CreateKey onClose={() => setCreating(false)} />}
      {revoking !== null && <Revoke api_key={revoking} onClose={() => setRevoking(null)} />}
    </Section>
  )
}

function KeyName({ api_key }: { api_key: ApiKey }) {
  return (
    <>
      <span className="block font-medium wrap-anywhere">{api_key.name ?? 'Untitled'}</span>
      <code className="font-mono text-sm break-all text-soft">{api_key.prefix}…</code>
    </>
  )
}

type LastUseProps = { last_used_at: string | null; last_used_ip: string | null }

/** Calls of the service itself have no IP address; theirs is "local". */
export function LastUse({ last_used_at, last_used_ip }: LastUseProps) {
  if (last_used_at === null) return <span className="text-soft">Never</span>
  const has_ip = last_used_ip !== null && last_used_ip !== 'local'
  return (
    <>
      <Time at={last_used_at} />
      {has_ip && <span className="block text-sm text-soft">{last_used_ip}</span>}
    </>
  )
}

function Revoke({ api_key, onClose }: { api_key: ApiKey; onClose(): void }) {
  const revoke_api_key = useOperationMutation('revoke_api_key', {
    onSuccess: () => {
      toast('API key revoked.')
      onClose()
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`Revoke ${api_key.name ?? 'API key'}?`}
      confirm_label="Revoke API key"
      danger
      busy={revoke_api_key.isPending}
      problem={revoke_api_key.error}
      onConfirm={() => revoke_api_key.mutate({ id: api_key.id })}
    >
      <p>Requests with this key fail immediately. You can’t undo this.</p>
    </ConfirmDialog>
  )
}
