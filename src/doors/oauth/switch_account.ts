import type { FastifyReply } from 'fastify'
import { deletePayloadsByUid } from '#domain/credentials/oauth_payload_store.ts'
import { resourceUrl } from '#domain/credentials/resource.ts'
import type { InteractionContext } from './interaction_context.ts'

/** Ends the browser session and restarts the same authorization request. */
export async function switchAccount(context: InteractionContext): Promise<FastifyReply> {
  const { runtime, interaction, reply } = context
  const uid = interaction.session?.uid
  const { db } = runtime.cells?.home ?? runtime
  if (uid !== undefined) await deletePayloadsByUid(db, 'Session', uid)
  const query = new URLSearchParams()
  const both = resourceUrl(runtime.settings, 'both')
  for (const [name, value] of Object.entries(interaction.params)) {
    const values = Array.isArray(value) ? value : [value]
    // The default of a request that named no resource; in a request the origin means another one.
    if (name === 'resource' && values.includes(both)) continue
    for (const each of values) {
      if (each !== undefined && each !== null) query.append(name, String(each))
    }
  }
  reply.redirect(`/oauth/authorize?${query}`, 303)
  return reply
}
