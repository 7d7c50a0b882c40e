import type { FastifyReply } from 'fastify'
import { deletePayloadsByUid } from '#domain/credentials/oauth_payload_store.ts'
import type { InteractionContext } from './interaction_context.ts'

/** Ends the browser session and restarts the same authorization request. */
export async function switchAccount(context: InteractionContext): Promise<FastifyReply> {
  const { runtime, interaction, reply } = context
  const uid = interaction.session?.uid
  const { db } = runtime.cells?.home ?? runtime
  if (uid !== undefined) await deletePayloadsByUid(db, 'Session', uid)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(interaction.params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) query.append(name, String(each))
    }
  }
  reply.redirect(`/oauth/authorize?${query}`, 303)
  return reply
}
