import { stringify } from 'yaml'
import type { OperationShape, PublicAccess, Section } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { scopes } from '#contract/scopes.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import { bodyOf, parametersOf, requiredOf, shared_parameters } from './openapi_requests.ts'
import { responsesOf, shared_headers, shared_responses } from './openapi_responses.ts'
import { expand, type Json, type JsonObject, named_schemas } from './openapi_schemas.ts'
import { webhooksOf } from './openapi_webhooks.ts'

/**
 * The OpenAPI 3.1 document, derived from the contract, the public URL and the operator's prices.
 * The committed openapi.json has no prices, so a change of the contract shows in review.
 */
export type OpenApiDocument = {
  openapi: '3.1.0'
  info: JsonObject
  servers: JsonObject[]
  tags: JsonObject[]
  paths: Record<string, Record<string, JsonObject>>
  webhooks: JsonObject
  components: Record<string, JsonObject>
}

type Prices = ReadonlyMap<string, Micros>

/** Version of the REST API, independent of the software version. */
const API_VERSION = '1.0.0'

export function openApiDocument(options: {
  public_url: string
  version?: string
  prices?: Prices
}): OpenApiDocument {
  const public_url = options.public_url.replace(/\/+$/, '')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version: options.version ?? API_VERSION,
      summary: 'Payment cards funded with stablecoins, for people and AI agents.',
      description: introduction,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${public_url}/v1`, description: 'This service.' }],
    tags: Object.entries(section_descriptions).map(([name, description]) => ({
      name,
      description,
    })),
    paths: pathsOf(Object.values(operations), options.prices ?? new Map()),
    webhooks: webhooksOf(),
    components: {
      schemas: Object.fromEntries(
        Object.entries(named_schemas).map(([name, schema]) => [name, expand(schema)]),
      ),
      parameters: shared_parameters,
      headers: shared_headers,
      responses: shared_responses,
      securitySchemes: securitySchemes(public_url),
    },
  }
}

/** The same document as YAML, without anchors, which make it harder to read. */
export function openApiYaml(document: OpenApiDocument): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 100 })
}

const introduction = [
  'Create an account, fund it with stablecoin deposits, and issue and manage payment cards. Every',
  'operation is also an MCP tool of the same name at `/mcp`.',
  '',
  '**Amounts** are JSON numbers in US dollars; 1 USDT counts as 1 USD. **Times** are ISO 8601 in',
  'UTC. **Unknown input** is an error, in fields and query parameters. In a PATCH, absent fields',
  'stay unchanged and null clears a field. Responses can gain fields and enum values: ignore those',
  'you do not know.',
  '',
  '**Lists** return `data`, `next_cursor` and `has_more`, newest first.',
  '',
  '**Idempotency**: send an `Idempotency-Key` with every POST and PATCH. A retry within seven days',
  'returns the first response and has no further effect.',
].join('\n')

export const section_descriptions: Readonly<Record<Section, string>> = {
  'Accounts and sessions': 'Create an account, sign in and out, two-factor authentication.',
  'API keys':
    'Credentials for your own programs, until they are revoked. They can do everything but ' +
    'change the email, password or two-factor authentication.',
  Balance: 'The USDT balance of the account and its history.',
  'Top-ups': 'Deposit addresses and their deposits.',
  Cards: 'Issue, load, limit, freeze and cancel cards.',
  Transactions: 'Card authorizations, captures, refunds and declines.',
  'Activity and audit': 'Events of the account, and the audit log of who did what.',
  Withdrawals: 'Send money to an external wallet.',
  Disputes: 'Dispute a purchase, follow the case and add evidence.',
  Webhooks: 'Receive events at your own endpoint.',
  Approvals: 'Calls by apps that exceed their budget. The owner approves or declines them.',
  'Support and system': 'Support tickets, service health and limits.',
}

/** Operations by path and method. A variant adds its query parameters to its base operation. */
function pathsOf(shapes: readonly OperationShape[], prices: Prices): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {}
  for (const shape of shapes) {
    if (shape.variant_of !== undefined) continue
    const variants = shapes.filter((other) => other.variant_of === shape.name)
    const item = paths[shape.path] ?? {}
    item[shape.method.toLowerCase()] = {
      ...operationOf(shape, variants),
      ...priceOf([shape, ...variants], prices),
    }
    paths[shape.path] = item
  }
  return paths
}

function operationOf(shape: OperationShape, variants: readonly OperationShape[]): JsonObject {
  const body = bodyOf(shape)
  return {
    operationId: shape.name,
    tags: [shape.section],
    summary: shape.summary,
    description: descriptionOf(shape, variants),
    'x-tool': shape.name,
    ...(variants.length > 0 && { 'x-variants': variants.map(variantOf) }),
    ...(shape.emits !== undefined && { 'x-emits': [...shape.emits] }),
    security: securityOf(shape.access),
    parameters: parametersOf(shape, variants),
    ...(body !== null && { requestBody: body }),
    responses: responsesOf(shape),
  }
}

/** Per operation: a variant on the same path can have another price. */
function priceOf(shapes: readonly OperationShape[], prices: Prices): JsonObject {
  const priced = shapes.flatMap(({ name }) => {
    const price = prices.get(name)
    return price === undefined ? [] : [[name, decimalFromMicros(price)]]
  })
  if (priced.length === 0) return {}
  return { 'x-price': { currency: 'USD', protocol: 'x402', ...Object.fromEntries(priced) } }
}

const variantOf = (variant: OperationShape): JsonObject => ({
  'x-tool': variant.name,
  summary: variant.summary,
  when_present: requiredOf(variant),
})

function descriptionOf(shape: OperationShape, variants: readonly OperationShape[]): string {
  const paragraphs = [shape.description]
  for (const variant of variants) {
    const names = requiredOf(variant)
      .map((name) => `\`${name}\``)
      .join(', ')
    paragraphs.push(`With ${names} this is ${variant.name}. ${variant.description}`)
  }
  paragraphs.push(`Credentials: ${callersOf(shape.access)}.`)
  if (shape.emits !== undefined) paragraphs.push(`Events: ${shape.emits.join(', ')}.`)
  return paragraphs.join('\n\n')
}

export function callersOf(access: PublicAccess): string {
  if (access === 'anyone') return 'none required'
  const callers: string[] = []
  if (access.session) callers.push('a session')
  if (access.api_key === true) callers.push('an API key')
  else if (access.api_key !== false) {
    callers.push(`an API key that sends only ${access.api_key.only_fields.join(', ')}`)
  }
  const { oauth } = access
  if (oauth === null) return callers.join('; ')
  if ('any' in oauth)
    return [...callers, `an OAuth token with ${oauth.any.join(' or ')}`].join('; ')
  const more = [oauth.with_field ?? {}, ...Object.values(oauth.with_item ?? {})]
  const extra = more
    .flatMap((scopes) => Object.entries(scopes))
    .map(([sent, scope]) => ` (and ${scope}, to send ${sent})`)
  const token =
    oauth.all.length === 0 ? 'any OAuth token' : `an OAuth token with ${oauth.all.join(' and ')}`
  return [...callers, `${token}${extra.join('')}`].join('; ')
}

function securityOf(access: PublicAccess): Json[] {
  if (access === 'anyone') return []
  const { session, api_key, oauth } = access
  const choices: Json[] = session || api_key !== false ? [{ bearer: [] }] : []
  if (oauth === null) return choices
  if ('any' in oauth) return [...choices, ...oauth.any.map((scope) => ({ oauth2: [scope] }))]
  return [...choices, { oauth2: [...oauth.all] }]
}

function securitySchemes(public_url: string): JsonObject {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A session bearer (from create_account or sign_in, 30 days) or an API key ' +
        '(`flk_live_…`, in the sandbox `flk_test_…`, until revoked).',
    },
    oauth2: {
      type: 'oauth2',
      description:
        'For agents: OAuth 2.1 with PKCE (S256). Clients register themselves at /oauth/register. ' +
        'Access tokens last an hour; refresh tokens rotate.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${public_url}/oauth/authorize`,
          tokenUrl: `${public_url}/oauth/token`,
          refreshUrl: `${public_url}/oauth/token`,
          scopes: { ...scopes },
        },
      },
    },
  }
}
