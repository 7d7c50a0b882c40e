import type { Secret } from '#kernel/secret.ts'

type Mail = { id: string; to: string; subject: string; text: string; html: string }
export type Mailer = {
  send(mail: Mail): Promise<void>
  /** Checks that the server is reachable and accepts our credentials. */
  verify(): Promise<unknown>
  close(): void
}

const TIMEOUT_MS = 15_000

/** Null if no mail server is configured; the library is loaded only if one is. */
export async function makeMailer(settings: {
  smtp_url: Secret | null
  mail_from: string
}): Promise<Mailer | null> {
  if (settings.smtp_url === null) return null
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: settings.smtp_url.open(),
    pool: true,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Emails contain only our own text, so the library never needs to read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = /@([^>\s]+)/.exec(settings.mail_from)?.[1] ?? 'localhost'
  return {
    send: async ({ id, to, ...mail }) => {
      // Same ID on every attempt, so a mail server can discard a duplicate.
      const messageId = `<notice-${id}@${domain}>`
      // As text, the address could be read as a list.
      const recipient = { name: '', address: to }
      await transport.sendMail({ from: settings.mail_from, messageId, to: recipient, ...mail })
    },
    verify: () => transport.verify(),
    close: () => transport.close(),
  }
}
