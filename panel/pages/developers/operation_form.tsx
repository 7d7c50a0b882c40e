import { type FormEvent, useState } from 'react'
import { FlorinError } from '#client/client.ts'
import type { OperationShape } from '#contract/operation.ts'
import { type InputOfName, type OperationName, operations } from '#contract/operations.ts'
import { typographic } from '#kernel/typographic.ts'
import { callOperation } from '#panel/api.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Code } from '#panel/ui/code.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Tabs } from '#panel/ui/tabs.tsx'
import { toClientCode, toCurl, toMcpCall } from './code_examples.ts'
import { SchemaField } from './schema_field.tsx'
import { type Field, type FormValues, inputFields, parseFieldValue } from './schema_fields.ts'

type OperationResult = { title: string; is_good: boolean; body: unknown }

export function OperationForm({ name }: { name: OperationName }) {
  const shape: OperationShape = operations[name]
  const [values, setValues] = useState<FormValues>({})
  const [result, setResult] = useState<OperationResult | null>(null)
  const [is_busy, setBusy] = useState(false)
  const [is_dialog_open, setDialogOpen] = useState(false)
  const input = readInput(inputFields(shape), values)
  const send = async () => {
    setDialogOpen(false)
    setBusy(true)
    setResult(await sendOperation(name, input))
    setBusy(false)
  }
  const submit = (form: FormEvent) => {
    form.preventDefault()
    if (shape.destructive === true) setDialogOpen(true)
    else void send()
  }
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Section title={<Title shape={shape} />}>
        <form onSubmit={submit} className="space-y-4">
          <InputFields shape={shape} values={values} onChange={setValues} />
          <Button type="submit" kind="main" busy={is_busy}>
            Send request
          </Button>
        </form>
      </Section>
      <div className="min-w-0 space-y-4 lg:sticky lg:top-18">
        <Section>
          <Tabs label="Code examples" tabs={exampleTabs(name, input)} />
        </Section>
        {result !== null && <ResponseSection result={result} />}
      </div>
      <ConfirmDialog
        open={is_dialog_open}
        onOpenChange={setDialogOpen}
        title={`Send ${name}?`}
        confirm_label="Send request"
        danger
        busy={is_busy}
        problem={null}
        onConfirm={() => void send()}
      >
        <p>This request changes your account. {typographic(shape.description)}</p>
      </ConfirmDialog>
    </div>
  )
}

type InputProps = { shape: OperationShape; values: FormValues; onChange(values: FormValues): void }

function InputFields({ shape, values, onChange }: InputProps) {
  const fields = inputFields(shape)
  if (fields.length === 0) return <p className="text-soft">No parameters</p>
  return fields.map((field) => (
    <SchemaField
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  ))
}

function ResponseSection({ result: { title, is_good, body } }: { result: OperationResult }) {
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

function readInput(fields: readonly Field[], values: FormValues): Record<string, unknown> {
  const given = fields.map(
    (field) => [field.name, parseFieldValue(field, values[field.name] ?? '')] as const,
  )
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

function exampleTabs(name: OperationName, input: Record<string, unknown>) {
  const example = { name, input, origin: location.origin }
  return [
    { value: 'curl', title: 'curl', content: <Code label="Shell" text={toCurl(example)} /> },
    {
      value: 'client',
      title: 'Client',
      content: <Code label="TypeScript" text={toClientCode(example)} />,
    },
    { value: 'mcp', title: 'MCP', content: <Code label="JSON-RPC" text={toMcpCall(example)} /> },
  ]
}

async function sendOperation(
  name: OperationName,
  input: Record<string, unknown>,
): Promise<OperationResult> {
  try {
    const body = await callOperation(name, input as InputOfName<typeof name>)
    return { title: `${operations[name].status}`, is_good: true, body: body ?? null }
  } catch (cause) {
    // The client throws a TypeError if it cannot build the request, e.g. without a path parameter.
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
