import type { Model } from '#test/simulation/model/model.ts'
import type { Holder } from './holder.ts'
import type { Session } from './session.ts'

/** An account with its model, at work. */
export type Life = {
  model: Model
  holder: Holder
  session: Session
  /** Set when the model can no longer predict the account. */
  is_ended: boolean
}
