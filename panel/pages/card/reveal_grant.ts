import { FlorinError } from '#client/client.ts'
import type { PanReveal } from '#contract/cards.ts'
import { requestJson } from '#panel/api.ts'
import { randomUuid } from '#panel/random_uuid.ts'

/**
 * A session cannot reveal a card number. Like any OAuth client, the panel asks the owner on the
 * consent page, for one card only, uses the token once and revokes the grant. Verifier, state and
 * token exist only during this call.
 */
export async function revealWithConsent(card_id: string): Promise<PanReveal> {
  // Opened before the first await: browsers block pop-ups that do not directly follow a click.
  const popup = window.open('', '_blank', 'popup,width=520,height=760')
  if (popup === null)
    throw accessDenied(
      'Your browser blocked the approval window. Allow pop-ups for this site and try again.',
    )
  try {
    const client_id = await clientId()
    const verifier = randomUuid() + randomUuid()
    const state = randomUuid()
    popup.location.href = await authorizeUrl({ client_id, verifier, state, card_id })
    const code = await waitForCode(popup, state)
    popup.close()
    const token = await exchangeCode({ client_id, code, verifier })
    try {
      return await requestJson<PanReveal>(`/v1/cards/${card_id}/pan`, {
        method: 'GET',
        bearer: token,
        headers: { 'Reveal-Nonce': randomUuid() },
      })
    } finally {
      await revokeGrants(client_id)
    }
  } finally {
    popup.close()
  }
}

const accessDenied = (message: string) => new FlorinError({ code: 'access_denied', message })

const RETURN_PATH = '/reveal'
const CLIENT_KEY = 'florin_reveal_client'

/** Registers the panel as a public client once per session. The ID is not secret. */
async function clientId(): Promise<string> {
  const known = sessionStorage.getItem(CLIENT_KEY)
  if (known !== null) return known
  const { client_id } = await requestJson<{ client_id: string }>('/oauth/register', {
    method: 'POST',
    bearer: null,
    body: {
      client_name: 'Florin panel',
      redirect_uris: [location.origin + RETURN_PATH],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  })
  sessionStorage.setItem(CLIENT_KEY, client_id)
  return client_id
}

type AuthorizationParams = { client_id: string; verifier: string; state: string; card_id: string }

/** Uses the OAuth metadata, because the issuer's URL may differ from the one in the browser. */
async function authorizeUrl({
  client_id,
  verifier,
  state,
  card_id,
}: AuthorizationParams): Promise<string> {
  const known = { method: 'GET', bearer: null } as const
  const [server, api] = await Promise.all([
    requestJson<{ authorization_endpoint: string }>(
      '/.well-known/oauth-authorization-server',
      known,
    ),
    requestJson<{ resource: string }>('/.well-known/oauth-protected-resource/v1', known),
  ])
  const query = new URLSearchParams({
    client_id,
    response_type: 'code',
    redirect_uri: location.origin + RETURN_PATH,
    scope: 'card:reveal_pan',
    resource: api.resource,
    state,
    code_challenge: await codeChallenge(verifier),
    code_challenge_method: 'S256',
    authorization_details: JSON.stringify([
      { type: 'card_access', identifier: card_id, actions: ['reveal_pan'] },
    ]),
  })
  return `${server.authorization_endpoint}?${query}`
}

async function codeChallenge(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const text = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

type AuthorizationResponse = { code?: string; state?: string; error?: string }

/** Waits for the message of reveal_return.tsx; rejects if the window is closed or access denied. */
function waitForCode(popup: Window, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearInterval(watch)
      removeEventListener('message', onMessage)
    }
    const onMessage = ({ origin, source, data }: MessageEvent) => {
      const answer = (data as { florin_reveal?: AuthorizationResponse } | null)?.florin_reveal
      if (origin !== location.origin || source !== popup || answer === undefined) return
      end()
      if (answer.state === state && answer.code !== undefined) resolve(answer.code)
      else
        reject(
          accessDenied('Card number not revealed. Check the card number box, then choose Allow.'),
        )
    }
    const watch = setInterval(() => {
      if (!popup.closed) return
      end()
      reject(accessDenied('The approval window was closed. Try again.'))
    }, 500)
    addEventListener('message', onMessage)
  })
}

type TokenParams = { client_id: string; code: string; verifier: string }

async function exchangeCode({ client_id, code, verifier }: TokenParams): Promise<string> {
  const { access_token } = await requestJson<{ access_token: string }>('/oauth/token', {
    method: 'POST',
    bearer: null,
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id,
      code,
      code_verifier: verifier,
      redirect_uri: location.origin + RETURN_PATH,
    }),
  })
  return access_token
}

/** Revokes the token, and keeps the panel out of the owner's list of agents. */
async function revokeGrants(client_id: string): Promise<void> {
  type Grant = { id: string; client_id: string; status: string }
  const { data } = await requestJson<{ data: Grant[] }>('/oauth/grants', { method: 'GET' })
  const open = data.filter((each) => each.client_id === client_id && each.status === 'active')
  for (const grant of open) {
    await requestJson(`/oauth/grants/${grant.id}`, { method: 'DELETE' })
  }
}
