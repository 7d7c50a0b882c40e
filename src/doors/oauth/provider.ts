import { generateKeyPairSync } from 'node:crypto'
import type { Configuration, interactionPolicy as Policy } from 'oidc-provider'
import { default_scopes, scope_names } from '#contract/scopes.ts'
import { findAccounts } from '#domain/accounts/account_store.ts'
import type { AuditContext } from '#domain/audit/audit.ts'
import { oauthHashes } from '#domain/credentials/oauth_hash.ts'
import { renewClientSecret } from '#domain/credentials/oauth_payload_store.ts'
import { audienceOf, resourceUrl } from '#domain/credentials/resource.ts'
import { markSecret } from '#kernel/cell.ts'
import { cellOfId } from '#kernel/id.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Cells, Runtime } from '#operations/runtime.ts'
import type { Settings } from '#settings/settings.ts'
import { GRANT_MODELS, oauthAdapter } from './adapter.ts'
import { requireBudgetDetail, requireOneBudget } from './budget_details.ts'
import { DETAIL_TYPES, requireCardDetail } from './card_details.ts'
import { errorPage } from './error_page.ts'
import { limitErrorRedirects } from './error_redirects.ts'
import { errors, interactionPolicy, Provider } from './library.ts'
import { stepUpClient } from './step_up.ts'

const HOUR_S = 60 * 60
const DAY_S = 24 * HOUR_S

export const INTERACTION_PATH = '/oauth/interaction'

/**
 * The authorization server: OAuth 2.1 for our own resources. There is no OpenID Connect: a client
 * receives access but no identity.
 */
export function createProvider(
  runtime: Runtime,
  auditContext: () => AuditContext,
): InstanceType<typeof Provider> {
  const provider = new Provider(
    runtime.settings.public_url,
    providerConfiguration(runtime, auditContext),
  )
  // The host comes from FLORIN_PUBLIC_URL; see providerRequest.
  provider.proxy = true
  // The library awaits the result, although its types do not say so.
  const compareClientSecret = async function (
    this: { clientId: string; clientSecret?: string },
    actual: string,
  ) {
    const { db, keys } = runtime
    const [current = '', ...older] = oauthHashes(keys, actual)
    if (this.clientSecret === current) return true
    if (!older.includes(this.clientSecret ?? '')) return false
    await renewClientSecret(db, this.clientId, current)
    return true
  }
  if (runtime.cells !== null) nameCells(provider, runtime.cells)
  limitErrorRedirects(provider, runtime)
  Object.assign(provider.Client.prototype, { compareClientSecret: compareClientSecret })
  provider.use(async (ctx, next) => {
    await next()
    adjustResponse(ctx.path, ctx.method, ctx.body as Record<string, unknown>)
  })
  return provider
}

type TokenModel = { prototype: { grantId?: string; generateTokenId(): string } }

/** Codes and tokens name the cell of their grant, like the bearers of sessions and keys. */
function nameCells(provider: InstanceType<typeof Provider>, cells: Cells): void {
  for (const name of GRANT_MODELS) {
    const { prototype } = provider[name] as unknown as TokenModel
    const { generateTokenId } = prototype
    prototype.generateTokenId = function (this: TokenModel['prototype']) {
      const cell = cellOfId(this.grantId ?? '')
      return markSecret(generateTokenId.call(this), cells.at(cell) === undefined ? 0 : cell)
    }
  }
}

/** Corrects or removes fields in the library's responses that do not apply here. */
function adjustResponse(path: string, method: string, body: Record<string, unknown>): void {
  if (path.startsWith('/.well-known/') && body !== undefined) {
    body['scopes_supported'] = [...scope_names, 'offline_access']
    body['authorization_details_types_supported'] = [...DETAIL_TYPES]
    for (const name of Object.keys(body)) {
      if (/^(claims_|subject_types|id_token_|acr_|request_)/.test(name)) delete body[name]
    }
  }
  if (!path.startsWith('/oauth/register') || body?.['client_id'] === undefined) return
  body['scope'] = default_scopes.join(' ')
  if (method === 'GET') delete body['client_secret']
}

function providerConfiguration(runtime: Runtime, auditContext: () => AuditContext): Configuration {
  const { settings, keys } = runtime
  const isHttps = settings.public_url.startsWith('https:')
  return {
    adapter: oauthAdapter({ ...runtime, auditContext }),
    scopes: [...scope_names, 'offline_access'],
    clients: [stepUpClient(settings)],
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    jwks: { keys: [unusedSigningKey()] },
    pkce: { required: () => true },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      registration: '/oauth/register',
      jwks: '/oauth/jwks',
    },
    interactions: {
      policy: consentPolicy(),
      url: (_ctx, interaction) => `${INTERACTION_PATH}/${interaction.uid}`,
    },
    cookies: {
      keys: keys.credentialHashes('oauth_cookie', 'v1'),
      names: {
        session: isHttps ? '__Host-florin_sign_in' : 'florin_sign_in',
        interaction: 'florin_interaction',
        resume: 'florin_resume',
      },
      long: { signed: true, httpOnly: true, sameSite: 'lax', secure: isHttps },
      short: { signed: true, httpOnly: true, sameSite: 'lax', secure: isHttps },
    },
    ttl: {
      AccessToken: HOUR_S,
      AuthorizationCode: 60,
      RefreshToken: 30 * DAY_S,
      Interaction: 15 * 60,
      Session: HOUR_S,
      Grant: 365 * DAY_S,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    clientBasedCORS: () => true,
    renderError: async (ctx, out) => errorPage(ctx, settings.mode, out),
    findAccount: async (_ctx, id) => {
      const [account] = await findAccounts(runtimeOfId(runtime, id).db, [id])
      if (account?.status !== 'active') return undefined
      return { accountId: id, claims: async () => ({ sub: id }) }
    },
    loadExistingGrant: async (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId
      return id === undefined ? undefined : ctx.oidc.provider.Grant.find(id)
    },
    features: providerFeatures(runtime),
  }
}

function providerFeatures({ settings }: Runtime): NonNullable<Configuration['features']> {
  const scope = scope_names.join(' ')
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    claimsParameter: { enabled: false },
    // On by default and published in the metadata, but not supported here.
    pushedAuthorizationRequests: { enabled: false },
    dPoP: { enabled: false },
    revocation: {
      enabled: true,
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    registration: { enabled: true, issueRegistrationAccessToken: true },
    registrationManagement: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_ctx, _client, granted) => defaultResource(settings, granted),
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_ctx, address) => {
        const known = audienceOf(settings, address)
        if (known === null) throw new errors.InvalidTarget()
        const audience = resourceUrl(settings, known)
        return { scope, audience, accessTokenFormat: 'opaque', accessTokenTTL: HOUR_S }
      },
    },
    richAuthorizationRequests: {
      enabled: true,
      types: {
        card_access: { validate: async (_ctx, detail) => requireCardDetail(detail) },
        spend_budget: {
          validate: async (ctx, detail) => {
            requireBudgetDetail(detail)
            requireOneBudget(ctx.oidc.params?.['authorization_details'])
          },
        },
      },
      authorizationDetailsForGrantSource: (ctx) => ctx.oidc.entities.Grant?.rar,
      authorizationDetailsForAccessToken: (ctx) => ctx.oidc.entities.Grant?.rar,
      authorizationDetailsForIntrospection: (_ctx, token) => token.rar,
    },
  }
}

/**
 * An authorization that names no resource is for all of them, so that its token requests can name
 * one. A token request that names none gets the widest that was granted.
 */
function defaultResource(settings: Settings, granted?: readonly string[]): string | string[] {
  const both = resourceUrl(settings, 'both')
  const mcp = resourceUrl(settings, 'mcp')
  if (granted === undefined) return [both, mcp, resourceUrl(settings, 'rest')]
  return granted.includes(both) ? both : mcp
}

/**
 * Every request asks for consent, even one that was granted before: anyone can claim to be a public
 * client, and a client may request refused scopes again.
 */
function consentPolicy(): Policy.DefaultPolicy {
  const { Check, base } = interactionPolicy
  const policy = base()
  const consent = policy.get('consent')
  for (const reason of ['op_scopes_missing', 'op_claims_missing', 'rs_scopes_missing']) {
    consent?.checks.remove(reason)
  }
  consent?.checks.add(
    new Check('consent_missing', 'the account owner must consent', (ctx) =>
      ctx.oidc.result?.consent === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
  )
  return policy
}

/** The library requires a key for ID tokens; it is never used. */
function unusedSigningKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }
}
