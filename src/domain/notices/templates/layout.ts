export type Email = {
  subject: string
  /** One paragraph each; a line that is a URL becomes a link. */
  lines: readonly string[]
  public_url: string
  livemode: boolean
}

const FOOTER = 'Manage notifications in Settings.'

/** Renders the email as plain text and as HTML that loads nothing from the network. */
export function renderEmail({ subject, lines, public_url, livemode }: Email) {
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

/** In UTC, to the minute: the recipient's time zone is unknown. */
export function formatTimestamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const isLink = (line: string) => /^https?:\/\/\S+$/.test(line)

const anchor = (link: string) => `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
