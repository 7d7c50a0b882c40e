import { notifyActivity } from '#domain/activity/activity_store.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { fanOutEventsTask } from '#domain/events/fan_out_events_task.ts'
import { emailPasswordResetsTask } from '#domain/notices/email_password_resets_task.ts'
import { eventNotices } from '#domain/notices/event_notices.ts'
import { makeMailer } from '#domain/notices/mailer.ts'
import { sendNoticesTask } from '#domain/notices/send_notices_task.ts'
import { warnLowBalanceTask } from '#domain/notices/warn_low_balance_task.ts'
import { announceMaintenanceTask } from '#domain/system/announce_maintenance.ts'
import { deliverChallengesTask } from '#domain/webhooks/deliver_challenges_task.ts'
import { deliverWebhooksTask } from '#domain/webhooks/deliver_webhooks_task.ts'
import { Deliverer } from '#domain/webhooks/deliverer.ts'
import { DELIVERIES_CHANNEL } from '#domain/webhooks/delivery_store.ts'
import { sweepDeliveriesTask } from '#domain/webhooks/sweep_deliveries_task.ts'
import type { Task } from '#platform/runtime/tasks.ts'

export type Notifications = { tasks: Task[]; deliverer: Deliverer; stop(): Promise<void> }

/** Starts the fan-out of events, webhooks and emails. */
export async function startNotifications(dependencies: Dependencies): Promise<Notifications> {
  const { db, settings, log } = dependencies
  const deliverer = new Deliverer(dependencies)
  const stopListening = await db.listen(DELIVERIES_CHANNEL, (payload) =>
    deliverer.onNotify(payload),
  )
  const mailer = await makeMailer(settings)
  if (mailer === null && settings.mode === 'live') {
    log.info('FLORIN_SMTP_URL is not set: emails are stored but not sent')
  }
  return {
    // Each task may create work for the next one.
    tasks: [
      announceMaintenanceTask(dependencies),
      fanOutEventsTask(
        dependencies,
        [deliverer.consumeEvents, eventNotices(dependencies), notifyActivity],
        () => deliverer.waitForRoom(),
      ),
      deliverWebhooksTask(deliverer),
      deliverChallengesTask(dependencies),
      sweepDeliveriesTask(dependencies),
      warnLowBalanceTask(dependencies),
      emailPasswordResetsTask(dependencies),
      sendNoticesTask(dependencies, mailer),
    ],
    deliverer,
    stop: async () => {
      await stopListening()
      await deliverer.stop()
      mailer?.close()
    },
  }
}
