import { Bot } from 'lucide-react'
import { useState } from 'react'
import { type Scope, scopes as scope_labels } from '#contract/scopes.ts'
import { agentName, type Grant, useGrants, useRevokeGrant } from '#panel/grants.ts'
import { useCardNames } from '#panel/pages/transactions/card_names.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { LastUse } from './api_keys.tsx'

export function Agents() {
  const query = useGrants()
  const [revoking, setRevoking] = useState<Grant | null>(null)
  return (
    <div className="space-y-4">
      <Section title="Connect an agent">
        <p className="mb-2 text-soft">
          Add this MCP server URL to your agent. You’ll choose what it can do and which cards it can
          use.
        </p>
        <Copyable text={`${location.origin}/mcp`} label="Copy MCP server URL" />
      </Section>
      <QueryBoundary query={query}>
        {(grants) =>
          grants.length === 0 ? (
            <Section>
              <EmptyState icon={Bot} title="No connected agents">
                Agents you connect show up here with their permissions.
              </EmptyState>
            </Section>
          ) : (
            <ul aria-label="Connected agents" className="grid items-start gap-4 lg:grid-cols-2">
              {grants.map((grant) => (
                <Agent key={grant.id} grant={grant} onRevoke={() => setRevoking(grant)} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
      {revoking !== null && <Revoke grant={revoking} onClose={() => setRevoking(null)} />}
    </div>
  )
}

function Agent({ grant, onRevoke }: { grant: Grant; onRevoke(): void }) {
  const card_names = useCardNames()
  const cards = grant.card_ids?.map((id) => card_names.of(id)).join(', ') ?? 'All cards'
  const is_active = grant.status === 'active'
  return (
    <li>
      <Section
        title={agentName(grant)}
        action={
          is_active ? (
            <Button size="small" onClick={onRevoke}>
              Revoke<span className="sr-only"> {agentName(grant)}</span>
            </Button>
          ) : (
            <Status of={grant.status} />
          )
        }
      >
        <ul aria-label="Scopes" className="mb-2 flex flex-wrap gap-1.5">
          {grant.scopes.map((scope) => (
            <li key={scope} title={scope_labels[scope as Scope]}>
              <Badge tone={scope.endsWith(':read') ? 'neutral' : 'accent'}>{scope}</Badge>
            </li>
          ))}
        </ul>
        <DescriptionList
          rows={[
            ['Cards', cards],
            ['Last used', <LastUse key="used" {...grant} />],
            ['Connected', <Time key="connected" at={grant.created_at} />],
            is_active && ['Expires', <Time key="ends" at={grant.expires_at} />],
            grant.revoked_at !== null && ['Revoked', <Time key="end" at={grant.revoked_at} />],
          ]}
        />
      </Section>
    </li>
  )
}

function Revoke({ grant, onClose }: { grant: Grant; onClose(): void }) {
  const revoke = useRevokeGrant(() => {
    toast(`Access revoked for ${agentName(grant)}.`)
    onClose()
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`Revoke access for ${agentName(grant)}?`}
      confirm_label="Revoke access"
      danger
      busy={revoke.isPending}
      problem={revoke.error}
      onConfirm={() => revoke.mutate(grant.id)}
    >
      <p>Its tokens stop working immediately. You can connect it again later.</p>
    </ConfirmDialog>
  )
}
