import assert from 'node:assert/strict'

/** The texts of a PDF by page, in the order of drawing. Every cross-reference must be right. */
export function readPdf(bytes: Buffer): string[][] {
  const file = bytes.toString('latin1')
  assert.ok(file.startsWith('%PDF-1.4\n'))
  assert.ok(file.endsWith('%%EOF\n'))
  const offsets = readOffsets(file)
  const objectAt = (id: number): string => {
    const from = offsets[id] ?? -1
    assert.ok(file.startsWith(`${id} 0 obj\n`, from), `object ${id} is where the table says`)
    return file.slice(from, file.indexOf('\nendobj\n', from))
  }
  for (let id = 1; id < offsets.length; id += 1) objectAt(id)
  const [, root = ''] = /\/Root (\d+) 0 R/.exec(file.slice(file.lastIndexOf('trailer'))) ?? []
  const [, tree = ''] = /\/Pages (\d+) 0 R/.exec(objectAt(Number(root))) ?? []
  const pages = objectAt(Number(tree))
  const kids = [...(/\[(.*)\]/.exec(pages)?.[1] ?? '').matchAll(/(\d+) 0 R/g)]
  assert.equal(Number(/\/Count (\d+)/.exec(pages)?.[1]), kids.length)
  return kids.map(([, id]) => {
    const [, content = ''] = /\/Contents (\d+) 0 R/.exec(objectAt(Number(id))) ?? []
    return textsOf(objectAt(Number(content)))
  })
}

function readOffsets(file: string): number[] {
  const [, at = ''] = /startxref\n(\d+)\n%%EOF\n$/.exec(file) ?? []
  const [, size = '', table = ''] =
    /^xref\n0 (\d+)\n((?:\d{10} \d{5} [fn] \n)+)trailer/.exec(file.slice(Number(at))) ?? []
  const rows = table.split('\n').slice(0, -1)
  assert.equal(rows.length, Number(size))
  return rows.map((row) => Number(row.slice(0, 10)))
}

function textsOf(object: string): string[] {
  const [, length = '', stream = ''] =
    /<< \/Length (\d+) >>\nstream\n(.*)\nendstream$/s.exec(object) ?? []
  assert.equal(stream.length, Number(length))
  return [...stream.matchAll(/\(((?:\\.|[^\\()])*)\) Tj/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1'),
  )
}
