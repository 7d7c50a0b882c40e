import { allow, type Choice, openConsent, REDIRECT } from './agent.ts'
import { Browser } from './browser.ts'
import type { Person } from './people.ts'

/**
 * An OAuthClientProvider for both official MCP clients, with a simulated browser that signs in and
 * consents.
 */
export function agentMemory(
  url: string,
  person: Person,
  { method, keeps_refresh = true }: { method: string; keeps_refresh?: boolean },
) {
  const browser = new Browser(url)
  const kept: { client?: unknown; tokens?: unknown; verifier?: string; discovery?: unknown } = {}
  const seen: { scope: string | null; callback: URL | null; choice: Choice } = {
    scope: null,
    callback: null,
    choice: {},
  }
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: `Agent with ${method}`,
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: method,
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: Record<string, unknown>) => {
      const { refresh_token, ...without } = tokens
      kept.tokens = keeps_refresh ? { ...without, refresh_token } : without
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState: (state: unknown) => {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery,
    redirectToAuthorization: async (address: URL) => {
      seen.scope = address.searchParams.get('scope')
      const page = await openConsent(browser, address.toString(), person)
      seen.callback = await allow(browser, page, seen.choice)
    },
  }
  return { provider, seen, kept }
}
