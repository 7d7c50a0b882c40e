import { createHash } from 'node:crypto'
import type { OperationName } from '#contract/operations.ts'
import { call, type DemoSandbox } from './demo_sandbox.ts'

type Owner = { email: string; password: string }

export type AgentPlan = {
  name: string
  scopes: readonly string[]
  budget: { amount_usd: number; period: 'day' | 'month'; ask_above_usd?: number }
}

/** An agent that its owner connected on the consent page. */
export type DemoAgent = { name: string; client_id: string; access: string; refresh: string }

/** Nothing listens there: the code is read from the redirect. */
const CALLBACK = 'http://127.0.0.1:9/callback'
/** The security page names the owner's device. */
const BROWSER =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) ' +
  'Chrome/143.0.0.0 Safari/537.36'
const VERIFIER = 'demo-agent-verifier-demo-agent-verifier-demo'

/** Registers a client, signs the owner in, allows everything asked for and fetches the tokens. */
export async function connectAgent(
  sandbox: DemoSandbox,
  owner: Owner,
  plan: AgentPlan,
): Promise<DemoAgent> {
  const { client_id } = await postJson(sandbox, '/oauth/register', {
    client_name: plan.name,
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
  })
  const query = new URLSearchParams({
    client_id: String(client_id),
    response_type: 'code',
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${sandbox.host.settings.public_url}/v1`,
    scope: plan.scopes.join(' '),
    authorization_details: JSON.stringify([{ type: 'spend_budget', ...plan.budget }]),
  })
  const tab = new Tab(sandbox)
  await tab.open(`/oauth/authorize?${query}`)
  await tab.submit([['step', 'sign_in'], ...Object.entries(owner)])
  const { amount_usd, period, ask_above_usd } = plan.budget
  const callback = await tab.submit([
    ...plan.scopes.map((scope): Pair => ['scope', scope]),
    ['step', 'allow'],
    ['cards', 'all'],
    ['budget_amount', String(amount_usd)],
    ['budget_period', period],
    ['budget_ask_above', String(ask_above_usd ?? '')],
  ])
  const code = new URL(callback).searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
  const tokens = await fetchTokens(sandbox, { ...grant, code_verifier: VERIFIER, client_id })
  return { name: plan.name, client_id: String(client_id), ...tokens }
}

/** Access tokens last an hour, so an agent that comes back another day refreshes first. */
export async function refreshAgent(sandbox: DemoSandbox, agent: DemoAgent): Promise<void> {
  const { client_id, refresh } = agent
  const grant = { grant_type: 'refresh_token', refresh_token: refresh, client_id }
  Object.assign(agent, await fetchTokens(sandbox, grant))
}

/** A call that needs the owner's approval; any other response is an error. */
export async function askFor(
  sandbox: DemoSandbox,
  agent: DemoAgent,
  operation: OperationName,
  input: object,
): Promise<void> {
  const { body } = await sandbox.host.call(operation, input, agent.access)
  if (body['error'] === 'approval_required') return
  throw new Error(`${operation} needed no approval: ${JSON.stringify(body)}`)
}

export const callAs = (
  sandbox: DemoSandbox,
  agent: DemoAgent,
  operation: OperationName,
  input: object,
): Promise<Record<string, unknown>> => call(sandbox, operation, input, agent.access)

async function fetchTokens({ url }: DemoSandbox, fields: Record<string, unknown>) {
  const body = new URLSearchParams(fields as Record<string, string>)
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body })
  const tokens = (await response.json()) as { access_token?: string; refresh_token?: string }
  const { access_token: access, refresh_token: refresh } = tokens
  if (access === undefined || refresh === undefined) throw new Error(JSON.stringify(tokens))
  return { access, refresh }
}

async function postJson({ url }: DemoSandbox, path: string, body: object) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} failed: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

type Pair = [name: string, value: string]

/** The parts of a browser that the consent page needs: cookies, redirects and one form. */
class Tab {
  readonly #sandbox: DemoSandbox
  readonly #cookies = new Map<string, string>()
  #path = ''
  #page = ''

  constructor(sandbox: DemoSandbox) {
    this.#sandbox = sandbox
  }

  /** Follows redirects of the service; returns the first address elsewhere, or the last page's. */
  async open(path: string, body?: URLSearchParams): Promise<string> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(this.#sandbox.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, 'user-agent': BROWSER },
      ...(body !== undefined && { body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) {
      this.#path = path
      this.#page = await response.text()
      return path
    }
    if (location.startsWith(CALLBACK)) return location
    // The service names its public URL, but the demo fills it on another port.
    const { pathname, search } = new URL(location, this.#sandbox.url)
    return this.open(pathname + search)
  }

  submit(fields: readonly Pair[]): Promise<string> {
    const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(this.#page) ?? []
    return this.open(this.#path, new URLSearchParams([['csrf', csrf], ...fields]))
  }
}
