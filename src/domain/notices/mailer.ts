import type { Settings } from '#platform/config.ts'

export type Mail = { id: string; to: string; subject: string; text: string; html: string }
export type Mailer = {
  send(mail: Mail): Promise<void>
  /** Whether the server is there and lets us in. */
  verify(): Promise<unknown>
  close(): void
}

const TIMEOUT_MS = 15_000

/** Null where no mail server is configured. The library is loaded only where one is. */
export async function makeMailer(
  settings: Pick<Settings, 'smtp_url' | 'mail_from'>,
): Promise<Mailer | null> {
  if (settings.smtp_url === null) return null
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: settings.smtp_url.open(),
    pool: true,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // What we send is text that we made: it has no business reading files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = /@([^>\s]+)/.exec(settings.mail_from)?.[1] ?? 'localhost'
  return {
    send: async ({ id, ...mail }) => {
      // The same id on every try: a mail server that has it already can tell.
      const messageId = `<notice-${id}@${domain}>`
      await transport.sendMail({ from: settings.mail_from, messageId, ...mail })
    },
    verify: () => transport.verify(),
    close: () => transport.close(),
  }
}
