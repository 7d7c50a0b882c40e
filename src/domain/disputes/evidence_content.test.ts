import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { safeFileName } from './evidence.ts'
import { makeContentSniffer } from './evidence_content.ts'

function sniff(bytes: Uint8Array, chunk = bytes.length): string | null {
  const sniffer = makeContentSniffer()
  for (let at = 0; at < bytes.length; at += Math.max(1, chunk)) {
    if (!sniffer.push(bytes.subarray(at, at + Math.max(1, chunk)))) return null
  }
  return sniffer.result()
}

const bytes = (text: string) => Buffer.from(text, 'latin1')
const PNG = bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01')
const cases: [string, Buffer, string | null][] = [
  ['a pdf', bytes('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj'), 'application/pdf'],
  ['a png', PNG, 'image/png'],
  ['a jpeg', bytes('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0'), 'image/jpeg'],
  ['a webp', bytes('RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0'), 'image/webp'],
  ['a text', Buffer.from('Paid 25,50 € on 2 November.\r\n\tThanks'), 'text/plain'],
  ['a text of one character', bytes('x'), 'text/plain'],
  ['a text with < and >', bytes('a < b and b > c'), 'text/plain'],
  ['an empty file', Buffer.alloc(0), null],
  ['a zip', bytes('PK\x03\x04\x14\0\0\0\x08\0abcdefgh'), null],
  ['a gzip', bytes('\x1f\x8b\x08\0\0\0\0\0\0\x03abcdefgh'), null],
  ['an ELF program', bytes('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0'), null],
  ['a gif', bytes('GIF89a\x01\0\x01\0\x80\0\0abcdef'), null],
  ['a wav', bytes('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'), null],
  ['an HTML page', bytes('  <!DOCTYPE html><script>alert(1)</script>'), null],
  ['an HTML page without a doctype', bytes('\n<HTML ><body>hello</body>'), null],
  ['an svg with a script', bytes('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>'), null],
  ['an svg with an XML declaration', bytes('<?xml version="1.0"?><svg/>'), null],
  ['latin-1', bytes('Stra\xdfe und mehr als f\xfcnfzehn'), null],
  ['a text with a null', bytes('some text that goes on\0 and on'), null],
  ['a text that ends within a UTF-8 character', Buffer.from('price: 5 €').subarray(0, -1), null],
]

for (const [what, content, expected] of cases) {
  test(`${what} is detected as ${expected ?? 'no accepted type'}, in chunks of any size`, () => {
    for (const chunk of [1, 3, 7, 16, content.length]) {
      assert.equal(sniff(content, chunk), expected, `in chunks of ${chunk}`)
    }
  })
}

test('binary content is refused before all of it has arrived', () => {
  const sniffer = makeContentSniffer()
  assert.equal(sniffer.push(bytes('PK\x03\x04\x14\0\0\0\x08\0abcdefgh')), false)
})

test('a file name has no folder, control character or direction override', () => {
  assert.equal(safeFileName('../../etc/passwd'), 'passwd')
  assert.equal(safeFileName('C:\\Users\\me\\receipt.pdf'), 'receipt.pdf')
  assert.equal(safeFileName('gnp.\u202efdp.exe\u0000"'), 'gnp.fdp.exe')
  assert.equal(safeFileName('Quittung März.pdf'), 'Quittung März.pdf')
  for (const nothing of [undefined, '', '..', '/', 'a/..', ' ']) {
    assert.equal(safeFileName(nothing), null)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (given) => {
      const name = safeFileName(given)
      assert(name === null || !/[/\\\u0000-\u001f"]/.test(name))
    }),
  )
})
