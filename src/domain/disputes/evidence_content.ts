/** The content types accepted as evidence, detected from the bytes alone, never from the name. */
type ContentType = 'application/pdf' | 'image/png' | 'image/jpeg' | 'image/webp' | 'text/plain'

export type ContentSniffer = {
  /** Returns false as soon as no accepted type is possible; the rest need not be read. */
  push(chunk: Uint8Array): boolean
  /** Null if the content has none of the accepted types. */
  result(): ContentType | null
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

/** The bytes that browsers inspect when they sniff for HTML. */
const HEAD_BYTES = 1_445
/** Enough for every signature above. */
const SIGNATURE_BYTES = 15

/** Tags that make browsers treat text as HTML, whatever its content type. */
const HTML_TAGS = [
  ...['html', 'head', 'body', 'title', 'meta', 'link', 'style', 'script', 'iframe', 'object'],
  ...['embed', 'form', 'table', 'div', 'font', 'img', 'svg', 'math', 'h1', 'br', 'p', 'a', 'b'],
]
const HTML_START = new RegExp(
  `^\\s*<(?:!doctype|!--|\\?xml|(?:${HTML_TAGS.join('|')})(?=[\\s/>]))`,
  'i',
)

export function makeContentSniffer(): ContentSniffer {
  let head = Buffer.alloc(0)
  let size = 0
  let detected: ContentType | null | undefined
  const text = makeTextChecker()

  const detectSignature = (): void => {
    const signature = SIGNATURES.find(({ bytes }) => startsWith(head, bytes))
    if (signature !== undefined) detected = signature.type
  }
  return {
    push: (chunk) => {
      size += chunk.length
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      }
      if (detected === undefined && head.length >= SIGNATURE_BYTES) detectSignature()
      if (detected !== undefined) return detected !== null
      // Without a signature, the content must be valid text.
      if (!text.push(chunk) && head.length >= SIGNATURE_BYTES) detected = null
      return detected !== null
    },
    result: () => {
      if (detected === undefined) detectSignature()
      if (detected !== undefined) return detected
      const isText = size > 0 && text.isComplete() && !HTML_START.test(head.toString('utf8'))
      return isText ? 'text/plain' : null
    },
  }
}

function startsWith(head: Uint8Array, bytes: readonly (number | null)[]): boolean {
  return (
    head.length >= bytes.length && bytes.every((byte, at) => byte === null || head[at] === byte)
  )
}

/** Control characters that occur in binary files but not in text. */
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f]/

function makeTextChecker(): { push(chunk: Uint8Array): boolean; isComplete(): boolean } {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let isValid = true
  const decode = (chunk: Uint8Array | undefined): void => {
    try {
      const text = chunk === undefined ? utf8.decode() : utf8.decode(chunk, { stream: true })
      if (CONTROLS.test(text)) isValid = false
    } catch {
      isValid = false
    }
  }
  return {
    push: (chunk) => {
      if (isValid) decode(chunk)
      return isValid
    },
    isComplete: () => {
      if (isValid) decode(undefined)
      return isValid
    },
  }
}
