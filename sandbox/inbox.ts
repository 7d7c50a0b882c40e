import type { Surface } from '#domain/context/surface.ts'

/** The caller's emails, newest first, whether sent or not. */
export const sandboxInbox: Surface = (app, host) => {
  app.get('/sandbox/v1/inbox', async (request) => {
    const { account_id } = await host.callerOf(request.headers.authorization)
    return { data: await host.inboxOf(account_id), next_cursor: null, has_more: false }
  })
}
