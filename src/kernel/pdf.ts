/**
 * Writes a PDF 1.4 file of text and lines, page by page: only the offsets of its objects stay in
 * memory, so a file of any length can be streamed. Text is in Helvetica, which every reader has.
 */
export type PdfText = {
  x: number
  y: number
  text: string
  size: number
  isBold?: boolean
  /** `x` is the right end of the text. */
  isRight?: boolean
  /** 0 is black, 1 is white. */
  gray?: number
}
export type PdfLine = { x1: number; x2: number; y: number }
export type PdfPage = { texts: readonly PdfText[]; lines: readonly PdfLine[] }

/** A4 in points. */
export const PAGE = { width: 595, height: 842 } as const

const CATALOG = 1
const PAGES = 2
const REGULAR = 3
const BOLD = 4
const INFO = 5

type PdfInfo = { title: string; created_at: Date }

export async function* writePdf(
  pages: AsyncIterable<PdfPage>,
  { title, created_at }: PdfInfo,
): AsyncGenerator<Buffer> {
  const offsets = new Map<number, number>()
  let length = 0
  const emit = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'latin1')
    length += bytes.length
    return bytes
  }
  const object = (id: number, body: string): Buffer => {
    offsets.set(id, length)
    return emit(`${id} 0 obj\n${body}\nendobj\n`)
  }
  const stamp = created_at.toISOString().replaceAll(/\D/g, '').slice(0, 14)
  yield emit('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n')
  yield object(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R /Lang (en-US) >>`)
  yield object(REGULAR, font('Helvetica'))
  yield object(BOLD, font('Helvetica-Bold'))
  yield object(INFO, `<< /Title ${literal(title)} /CreationDate (D:${stamp}Z) >>`)
  let next = INFO + 1
  const page_ids: number[] = []
  for await (const page of pages) {
    const content = contentOf(page)
    page_ids.push(next)
    yield object(next, pageObject(next + 1))
    yield object(next + 1, `<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
    next += 2
  }
  const kids = page_ids.map((id) => `${id} 0 R`).join(' ')
  yield object(PAGES, `<< /Type /Pages /Kids [${kids}] /Count ${page_ids.length} >>`)
  const xref_at = length
  const rows = [...offsets].toSorted(([one], [other]) => one - other)
  const table = rows.map(([, at]) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  yield emit(`xref\n0 ${next}\n0000000000 65535 f \n${table}`)
  yield emit(`trailer\n<< /Size ${next} /Root ${CATALOG} 0 R /Info ${INFO} 0 R >>\n`)
  yield emit(`startxref\n${xref_at}\n%%EOF\n`)
}

const font = (name: string) =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`

const pageObject = (content: number) =>
  `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] ` +
  `/Resources << /Font << /F1 ${REGULAR} 0 R /F2 ${BOLD} 0 R >> >> /Contents ${content} 0 R >>`

/** One byte per character, so its length is that of the stream. */
function contentOf({ texts, lines }: PdfPage): string {
  const drawn = lines.map(({ x1, x2, y }) => `0.8 G 0.5 w ${x1} ${y} m ${x2} ${y} l S`)
  const written = texts.map(({ x, y, text, size, isBold, isRight, gray = 0 }) => {
    const left = isRight ? x - textWidth(text, size) : x
    const at = `${left.toFixed(2)} ${y.toFixed(2)}`
    return `BT ${gray} g /F${isBold ? 2 : 1} ${size} Tf ${at} Td ${literal(text)} Tj ET`
  })
  return [...drawn, ...written].join('\n')
}

/** A string literal. Characters that the font lacks become question marks. */
function literal(text: string): string {
  const latin = text.normalize('NFKC').replaceAll(/[^\x20-\x7e\xa0-\xff]/gu, '?')
  return `(${latin.replaceAll(/[\\()]/g, '\\$&')})`
}

/** Widths of Helvetica's characters 32 to 126, in thousandths of the size (Adobe's metrics). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
  556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
  611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
  667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
  222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]
const WIDTH_OF_OTHERS = 600

export function textWidth(text: string, size: number): number {
  let width = 0
  for (const letter of text) width += WIDTHS[letter.charCodeAt(0) - 32] ?? WIDTH_OF_OTHERS
  return (width * size) / 1_000
}

/** Shortens a text that is wider than its column. */
export function fitText(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text
  const letters = [...text]
  while (letters.length > 0 && textWidth(`${letters.join('')}...`, size) > width) letters.pop()
  return `${letters.join('')}...`
}
