import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from './markdown.ts'

const linkTo = (target: string) => (/^(https:|#|\/|[\w.]+\.md)/.test(target) ? target : null)
const render = (source: string) => renderMarkdown(source, linkTo).body.text

test('apostrophes and quotes are typographic in text, and stay as they are in code', () => {
  assert.equal(
    render(`Don't "guess" the card's \`'state'\` (c)...`),
    "<p>Don’t “guess” the card’s <code>'state'</code> (c)...</p>",
  )
  assert.match(render("```sh\necho 'it'\n```"), /echo .*'it'|echo .*&#39;it&#39;/)
})

test('headings have anchors, each its own', () => {
  const { title, headings, body } = renderMarkdown('# Going `live`\n\n## Keys\n## Keys', linkTo)
  assert.equal(title, 'Going live')
  assert.deepEqual(
    headings.map(({ level, id }) => [level, id]),
    [
      [1, 'going-live'],
      [2, 'keys'],
      [2, 'keys-2'],
    ],
  )
  assert.match(body.text, /<h2 id="keys-2">Keys <a class="anchor" href="#keys-2"/)
})

test('text is text: nothing in a document becomes markup', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '# <img src=x onerror=alert(1)>',
    '`<b>`',
    '```sh\n<i>&amp;\n```',
    '| <u> | b |\n|---|---|\n| <s>" | x |',
    '- <li onclick="x">',
    '> <q>',
    '**<b>** and *<i>*',
    '[<a>](https://example.com/"onclick="x)',
    '[x](javascript:alert(1))',
    '[x](data:text/html,y)',
  ]
  for (const source of hostile) {
    const text = render(source).replaceAll(
      /<\/?(p|h1|a|code|pre|div|table|thead|tbody|tr|td|th|ul|li|blockquote|strong|em)( (class|href|id|aria-label|tabindex|data-language|scope)="[^"<>]*")*>/g,
      '',
    )
    assert.doesNotMatch(text, /[<>]/, source)
    assert.doesNotMatch(render(source), /href="(javascript|data):/, source)
    assert.doesNotMatch(render(source), /"[^"=]*"onclick/, source)
  }
})

test('inline: code, links, strong, stressed, and escaped signs', () => {
  assert.equal(
    render('Send `{"a": **1**}` to [the *list*](list.md), **now**: 2 \\* 3'),
    '<p>Send <code>{&quot;a&quot;: **1**}</code> to <a href="list.md">the <em>list</em></a>, ' +
      '<strong>now</strong>: 2 * 3</p>',
  )
  assert.equal(render('a * b * c and snake_case_name'), '<p>a * b * c and snake_case_name</p>')
  assert.equal(render('`` a ` b ``'), '<p><code>a ` b</code></p>')
})

test('long names in code may break after their joints, and short ones and flags never', () => {
  assert.equal(
    render('`src/doors/site.ts` and `FLORIN_PUBLIC_URL`'),
    '<p><code>src/<wbr>doors/<wbr>site.<wbr>ts</code> and ' +
      '<code>FLORIN_<wbr>PUBLIC_<wbr>URL</code></p>',
  )
  assert.equal(
    render('`card_id`, `0.0.0.0:80` and `--activate`'),
    '<p><code>card_id</code>, <code>0.0.0.0:80</code> and <code>--activate</code></p>',
  )
})

test('code keeps every sign of it, and its language', () => {
  assert.equal(
    render('```sh\n# no heading\n  - no item | no table\n```\nafter'),
    '<pre tabindex="0" data-language="sh"><code><span class="comment"># no heading</span>\n' +
      '  - no item | no table</code></pre>\n' +
      '<p>after</p>',
  )
})

test('lists go on over indented lines, hold lists and code, and end', () => {
  assert.equal(
    render('- one\n  goes on\n- two\n  - inner\n- three\n\n1. first\n2. second\n\nend'),
    '<ul>\n<li>one\ngoes on</li>\n<li>two\n<ul>\n<li>inner</li>\n</ul>\n</li>\n' +
      '<li>three</li>\n</ul>\n<ol>\n<li>first</li>\n<li>second</li>\n</ol>\n<p>end</p>',
  )
  assert.match(
    render('1. run\n\n   ```sh\n   ls\n   ```\n2. look'),
    /<pre.*ls<\/code><\/pre>\n<\/li>/,
  )
})

test('tables have a cell for each column; an escaped pipe is part of its cell, in code too', () => {
  const text = render('| a | b |\n|---|---|\n| `x\\|y` | p \\| q |\n| only |\n|  | empty before |')
  assert.match(text, /<th scope="col">a<\/th>\n<th scope="col">b<\/th>/)
  assert.match(text, /<td><code>x\|y<\/code><\/td>\n<td>p \| q<\/td>/)
  assert.match(text, /<tr>\n<td>only<\/td>\n<td><\/td>\n<\/tr>/)
  assert.match(text, /<tr>\n<td><\/td>\n<td>empty before<\/td>\n<\/tr>/)
})

test('every text ends: no input keeps it going or throws', () => {
  const signs = [
    '#',
    '-',
    '1.',
    '|',
    '```',
    '>',
    '`',
    '**',
    '[x](',
    '\n',
    '\n\n',
    ' ',
    'word',
    '\\',
  ]
  let seed = 20_260_101
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed
  }
  for (let round = 0; round < 3_000; round += 1) {
    const source = Array.from({ length: 12 }, () => signs[next() % signs.length]).join('')
    assert.equal(typeof render(source), 'string', JSON.stringify(source))
  }
})
