import { type FormEvent, useState } from 'react'
import { FlorinError } from '#client/client.ts'
import type { OperationShape } from '#contract/operation.ts'
import { type InputOfName, type OperationName, operations } from '#contract/operations.ts'
import { call } from '#panel/api.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Code } from '#panel/ui/code.tsx'
import { Confirm } from '#panel/ui/confirm.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Tabs } from '#panel/ui/tabs.tsx'
import { clientCallOf, curlOf, toolCallOf } from './request_text.ts'
import { SchemaField } from './schema_field.tsx'
import { type Field, fieldsOf, type Typed, valueIn } from './schema_fields.ts'

type Answer = { title: string; is_good: boolean; body: unknown }

export function OperationForm({ name }: { name: OperationName }) {
  const shape: OperationShape = operations[name]
  const [typed, setTyped] = useState<Typed>({})
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [is_busy, setBusy] = useState(false)
  const [is_asking, setAsking] = useState(false)
  const input = inputOf(fieldsOf(shape), typed)
  const send = async () => {
    setAsking(false)
    setBusy(true)
    setAnswer(await answerOf(name, input))
    setBusy(false)
  }
  const submit = (form: FormEvent) => {
    form.preventDefault()
    if (shape.destructive === true) setAsking(true)
    else void send()
  }
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Section title={<Title shape={shape} />}>
        <form onSubmit={submit} className="space-y-4">
          <InputFields shape={shape} typed={typed} onChange={setTyped} />
          <Button type="submit" kind="main" busy={is_busy}>
            Send request
          </Button>
        </form>
      </Section>
      <div className="min-w-0 space-y-4 lg:sticky lg:top-18">
        <Section>
          <Tabs label="Code examples" tabs={tabsOf(name, input)} />
        </Section>
        {answer !== null && <AnswerShown answer={answer} />}
      </div>
      <Confirm
        open={is_asking}
        onOpenChange={setAsking}
        title={`Send ${name}?`}
        verb="Send request"
        danger
        busy={is_busy}
        problem={null}
        onConfirm={() => void send()}
      >
        <p>This request changes your account. {shape.description}</p>
      </Confirm>
    </div>
  )
}

type InputProps = { shape: OperationShape; typed: Typed; onChange(typed: Typed): void }

function InputFields({ shape, typed, onChange }: InputProps) {
  const fields = fieldsOf(shape)
  if (fields.length === 0) return <p className="text-soft">No parameters</p>
  return fields.map((field) => (
    <SchemaField
      key={field.name}
      field={field}
      value={typed[field.name] ?? ''}
      onChange={(value) => onChange({ ...typed, [field.name]: value })}
    />
  ))
}

function AnswerShown({ answer: { title, is_good, body } }: { answer: Answer }) {
  return (
    <Section title="Response" action={<Badge tone={is_good ? 'good' : 'bad'}>{title}</Badge>}>
      <Code label="Body" text={JSON.stringify(body, null, 2)} />
    </Section>
  )
}

function Title({ shape }: { shape: OperationShape }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone="accent">{shape.method}</Badge>
      <code className="font-mono text-sm font-medium break-all">/v1{shape.path}</code>
    </span>
  )
}

function inputOf(fields: readonly Field[], typed: Typed): Record<string, unknown> {
  const given = fields.map(
    (field) => [field.name, valueIn(field, typed[field.name] ?? '')] as const,
  )
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

function tabsOf(name: OperationName, input: Record<string, unknown>) {
  const said = { name, input, origin: location.origin }
  return [
    { value: 'curl', title: 'curl', content: <Code label="Shell" text={curlOf(said)} /> },
    {
      value: 'client',
      title: 'Client',
      content: <Code label="TypeScript" text={clientCallOf(said)} />,
    },
    { value: 'mcp', title: 'MCP', content: <Code label="JSON-RPC" text={toolCallOf(said)} /> },
  ]
}

async function answerOf(name: OperationName, input: Record<string, unknown>): Promise<Answer> {
  try {
    const body = await call(name, input as InputOfName<typeof name>)
    return { title: `${operations[name].status}`, is_good: true, body: body ?? null }
  } catch (cause) {
    // An input that cannot be sent at all is a TypeError of the client, in its own words.
    if (!(cause instanceof FlorinError)) {
      return { title: 'Not sent', is_good: false, body: { message: (cause as Error).message } }
    }
    const { code, message, request_id, details, status } = cause
    return {
      title: `${status}`,
      is_good: false,
      body: { error: code, message, request_id, details },
    }
  }
}
