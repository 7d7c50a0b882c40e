import { type Route, routes } from '#contract/routes.ts'
import { type Settings, send } from './call.ts'
import { createListing, type Page } from './listing.ts'
import type { Fields } from './request.ts'
import type { CallOptions, Client, OperationName } from './shapes.ts'

export { type ApprovalLink, type ErrorCode, FlorinError } from './error.ts'
export type { Listing, Page } from './listing.ts'
export type { OnPaymentRequired, PaymentRequirement } from './payment.ts'
export type { CallOptions, Client, Input, OperationName, Output } from './shapes.ts'
export type { Progress, Upload } from './upload.ts'
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './verify_webhook.ts'

export type ClientOptions = Partial<Settings> & Pick<Settings, 'url'>

const TIMEOUT_MS = 30_000
const RETRIES_MAX = 3
const WAIT_MAX_MS = 30_000

/** Creates a client with one method per operation: `client.load_card({ id, amount_usd: 20 })`. */
export function createClient(options: ClientOptions): Client {
  const settings: Settings = {
    timeout_ms: TIMEOUT_MS,
    retries_max: RETRIES_MAX,
    wait_max_ms: WAIT_MAX_MS,
    // Browsers throw if fetch is called as a method of an object other than window.
    fetch: (...args) => fetch(...args),
    ...options,
    url: options.url.replace(/\/+$/, '').replace(/\/v1$/, ''),
  }
  const methods = Object.entries<Route>(routes).map(([name, route]) => {
    const operation = name as OperationName
    const method = (input: Fields = {}, call: CallOptions = {}) =>
      route.paged
        ? createListing((cursor) =>
            send<Page<unknown>>(settings, operation, withCursor(input, cursor), call),
          )
        : send(settings, operation, input, call)
    return [name, method]
  })
  return Object.fromEntries(methods) as Client
}

const withCursor = (input: Fields, cursor: string | undefined): Fields =>
  cursor === undefined ? input : { ...input, cursor }
