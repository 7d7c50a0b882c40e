import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { hasConsentedTo } from '#domain/access/grant_store.ts'
import type { Programme } from '#operations/programme.ts'
import { errorPage } from './error_page.ts'
import { isLoopback } from './register.ts'

/**
 * A client says for itself where errors go, and registering is free: sent there unseen, they would
 * make this site a redirector to anywhere. So an error that comes before the page was shown is told
 * to an address that the signed-in account has consented to, or to a program on this machine that
 * waits for it; otherwise it is shown here. (RFC 9700, section 4.11.2)
 */
export function keepErrorsHome(
  provider: Provider,
  { db, clock }: Pick<Programme, 'db' | 'clock'>,
): void {
  type Failure = { ctx: KoaContextWithOIDC; error: OauthError }
  const failures = new WeakMap<object, Failure>()
  provider.on('authorization.error', (ctx, error) => failures.set(ctx, { ctx, error }))
  provider.use(async (asked, next) => {
    await next()
    const failure = failures.get(asked)
    if (failure === undefined) return
    const { ctx, error } = failure
    if (ctx.oidc.route !== 'authorization' || (await mayTell(ctx))) return
    ctx.remove('Location')
    ctx.status = 400
    const { error: code = 'invalid_request', error_description } = error
    errorPage(ctx, { error: code, ...(error_description && { error_description }) })
  })

  const mayTell = async ({ oidc }: KoaContextWithOIDC): Promise<boolean> => {
    const { client_id, redirect_uri, prompt } = oidc.params ?? {}
    if (typeof client_id !== 'string' || typeof redirect_uri !== 'string') return false
    if (prompt !== 'none' && isLoopback(redirect_uri)) return true
    const account_id = oidc.session?.accountId
    if (account_id === undefined) return false
    return hasConsentedTo(db, { account_id, client_id, redirect_uri, now: clock.now() })
  }
}

type OauthError = { error?: string | undefined; error_description?: string | undefined }
