import type { FastifyReply } from 'fastify'
import { deletePayloadsByUid } from '#domain/oauth_grants/oauth_payload_store.ts'
import type { Visit } from './visit.ts'

/** Ends the browser session and restarts the same authorization request. */
export async function switchAccount(visit: Visit): Promise<FastifyReply> {
  const { programme, interaction, reply } = visit
  const uid = interaction.session?.uid
  if (uid !== undefined) await deletePayloadsByUid(programme.db, 'Session', uid)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(interaction.params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) query.append(name, String(each))
    }
  }
  reply.redirect(`/oauth/authorize?${query}`, 303)
  return reply
}
