import type { FastifyInstance } from 'fastify'
import { Compile } from 'typebox/compile'
import { Problem } from '#contract/problem.ts'
import { ThreeDsDecision } from '#contract/webhooks.ts'
import { answerChallenge } from '#domain/authorizations/challenge.ts'
import { readJsonBody } from '#doors/json_body.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'

const validator = Compile(ThreeDsDecision)

/** Accepts the decision on a challenge. The token in the URL is the only credential. */
export function mountThreeDs(app: FastifyInstance, runtime: Runtime): void {
  app.post('/three_ds/:id/:token', async (request) => {
    const { id, token } = request.params as { id: string; token: string }
    const body = await readJsonBody(
      request.body as Buffer | undefined,
      request.headers['content-type'],
    )
    if (!validator.Check(body)) {
      throw new Problem(
        'invalid_request',
        'Send {"challenge_id": "…", "decision": "approve" or "decline"}.',
      )
    }
    const { status } = await answerChallenge(runtimeOfId(runtime, id), {
      id,
      token,
      decision: body,
    })
    return { challenge_id: id, decision: status === 'approved' ? 'approve' : 'decline' }
  })
}
