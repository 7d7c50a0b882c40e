/**
 * This room guarantees that the owner of an account hears by e-mail of what the settings ask for,
 * and of every change that a thief would make. Each e-mail is a row before it is a message.
 */
export type NewNotice = {
  account_id: string
  kind: string
  recipient: string
  subject: string
  body_text: string
  body_html: string
  now: Date
}

export type NoticeRow = Omit<NewNotice, 'now'> & {
  id: bigint
  state: 'due' | 'sent' | 'given_up'
  attempts: number
  created_at: Date
  sent_at: Date | null
}

export type Letter = {
  subject: string
  /** One sentence each. */
  lines: readonly string[]
  public_url: string
  livemode: boolean
}

const FOOTER = 'Which e-mails you get is set in your account, under notifications.'

/** The same words twice: as plain text, and as HTML in which nothing is loaded from anywhere. */
export function writeLetter({ subject, lines, public_url, livemode }: Letter) {
  const shown_subject = livemode ? subject : `[Sandbox] ${subject}`
  const body_text = `${[...lines, public_url, `-- \n${FOOTER}`].join('\n\n')}\n`
  const paragraphs = lines.map((line) => `<p>${isLink(line) ? anchor(line) : escapeHtml(line)}</p>`)
  const link = `<p>${anchor(public_url)}</p>`
  const body_html = [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escapeHtml(shown_subject)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">',
    ...paragraphs,
    link,
    `<p style="color: #666">${escapeHtml(FOOTER)}</p>`,
    '</body>',
    '</html>',
  ].join('\n')
  return { subject: shown_subject, body_text, body_html: `${body_html}\n` }
}

const isLink = (line: string) => /^https?:\/\/\S+$/.test(line)

const anchor = (link: string) => `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`

/** As it stands in an e-mail, to the minute: there is no reader's time zone to know. */
export function momentInWords(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)
}
