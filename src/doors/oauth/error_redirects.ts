import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { hasConsentedTo } from '#domain/credentials/grant_store.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { errorPage } from './error_page.ts'
import { isLoopback } from './register.ts'

/**
 * Anyone can register a client and choose its redirect URI, so redirecting errors there without a
 * page would make this site an open redirector (RFC 9700, section 4.11.2). An error that occurs
 * before the page is redirected only to a URI that the signed-in account has approved or to a
 * loopback address. Otherwise the error page is shown.
 */
export function limitErrorRedirects(provider: Provider, runtime: Runtime): void {
  type Failure = { ctx: KoaContextWithOIDC; error: OauthError }
  const failures = new WeakMap<object, Failure>()
  provider.on('authorization.error', (ctx, error) => failures.set(ctx, { ctx, error }))
  provider.use(async (request_ctx, next) => {
    await next()
    const failure = failures.get(request_ctx)
    if (failure === undefined) return
    const { ctx, error } = failure
    if (ctx.oidc.route !== 'authorization' || (await canRedirect(ctx))) return
    ctx.remove('Location')
    ctx.status = 400
    const { error: code = 'invalid_request', error_description } = error
    errorPage(ctx, runtime.settings.mode, {
      error: code,
      ...(error_description && { error_description }),
    })
  })

  const canRedirect = async ({ oidc }: KoaContextWithOIDC): Promise<boolean> => {
    const { client_id, redirect_uri, prompt } = oidc.params ?? {}
    if (typeof client_id !== 'string' || typeof redirect_uri !== 'string') return false
    if (prompt !== 'none' && isLoopback(redirect_uri)) return true
    const account_id = oidc.session?.accountId
    if (account_id === undefined) return false
    const { db, clock } = runtimeOfId(runtime, account_id)
    return hasConsentedTo(db, { account_id, client_id, redirect_uri, now: clock.now() })
  }
}

type OauthError = { error?: string | undefined; error_description?: string | undefined }
