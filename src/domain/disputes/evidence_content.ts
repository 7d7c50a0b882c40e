/**
 * What a file is, judged by its bytes alone: its name and the type that was sent with it are only
 * claims. What is none of the five kinds is refused; nothing is ever unpacked or drawn.
 */
export type ContentType =
  | 'application/pdf'
  | 'image/png'
  | 'image/jpeg'
  | 'image/webp'
  | 'text/plain'

export type ContentJudge = {
  /** False as soon as it can be none of them: the rest need not be read. */
  take(chunk: Uint8Array): boolean
  /** Null where it is none of them. */
  verdict(): ContentType | null
}

type Signature = { type: ContentType; bytes: readonly (number | null)[] }

const letters = (text: string) => [...Buffer.from(text, 'latin1')]

const SIGNATURES: readonly Signature[] = [
  { type: 'application/pdf', bytes: letters('%PDF-') },
  { type: 'image/png', bytes: [0x89, ...letters('PNG\r\n'), 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  {
    type: 'image/webp',
    bytes: [...letters('RIFF'), null, null, null, null, ...letters('WEBPVP8')],
  },
]

/** As many as a browser looks at before it decides that a text is a page. */
const HEAD_BYTES = 1_445
/** Enough for every signature above. */
const SIGNATURE_BYTES = 15

/** What a browser would take for a page, however it is called. */
const TAGS = [
  ...['html', 'head', 'body', 'title', 'meta', 'link', 'style', 'script', 'iframe', 'object'],
  ...['embed', 'form', 'table', 'div', 'font', 'img', 'svg', 'math', 'h1', 'br', 'p', 'a', 'b'],
]
const PAGE = new RegExp(`^\\s*<(?:!doctype|!--|\\?xml|(?:${TAGS.join('|')})(?=[\\s/>]))`, 'i')

export function contentJudge(): ContentJudge {
  let head = Buffer.alloc(0)
  let size = 0
  let judged: ContentType | null | undefined
  const text = textJudge()

  const judgeHead = (): void => {
    const signature = SIGNATURES.find(({ bytes }) => startsWith(head, bytes))
    if (signature !== undefined) judged = signature.type
  }
  return {
    take: (chunk) => {
      size += chunk.length
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      }
      if (judged === undefined && head.length >= SIGNATURE_BYTES) judgeHead()
      if (judged !== undefined) return judged !== null
      // Until it is known to be something else it must be good as a text, or at least begin so.
      if (!text.take(chunk) && head.length >= SIGNATURE_BYTES) judged = null
      return judged !== null
    },
    verdict: () => {
      if (judged === undefined) judgeHead()
      if (judged !== undefined) return judged
      const isText = size > 0 && text.isWhole() && !PAGE.test(head.toString('utf8'))
      return isText ? 'text/plain' : null
    },
  }
}

function startsWith(head: Uint8Array, bytes: readonly (number | null)[]): boolean {
  return (
    head.length >= bytes.length && bytes.every((byte, at) => byte === null || head[at] === byte)
  )
}

/** No text has these: a file that does is some program's, and so are many that do further in. */
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f]/

function textJudge(): { take(chunk: Uint8Array): boolean; isWhole(): boolean } {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let isGood = true
  const decode = (chunk: Uint8Array | undefined): void => {
    try {
      const text = chunk === undefined ? utf8.decode() : utf8.decode(chunk, { stream: true })
      if (CONTROLS.test(text)) isGood = false
    } catch {
      isGood = false
    }
  }
  return {
    take: (chunk) => {
      if (isGood) decode(chunk)
      return isGood
    },
    isWhole: () => {
      if (isGood) decode(undefined)
      return isGood
    },
  }
}
