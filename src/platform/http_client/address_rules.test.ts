import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  default_ports,
  EgressRefused,
  isLoopbackAddress,
  isPublicAddress,
  requireAllowedUrl,
  type UrlRules,
} from './address_rules.ts'

const strict: UrlRules = { allow_loopback_http: false, ports: default_ports }
const sandbox: UrlRules = { allow_loopback_http: true, ports: default_ports }

const public_addresses = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
  ...['172.32.0.0', '192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ...['198.20.0.0', '223.255.255.255', '168.63.129.17'],
  ...['2000::1', '2001:200::1', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2003::1'],
  ...['::ffff:8.8.8.8', '::ffff:808:808', '0:0:0:0:0:FFFF:8.8.8.8', '64:ff9b::8.8.8.8'],
]

const refused_addresses = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.100.100.200'],
  ...['100.127.255.255', '127.0.0.1', '127.255.255.255', '169.254.0.0', '169.254.169.254'],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1'],
  ...['192.168.0.1', '192.168.255.255', '198.18.0.1', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '::', '::1', '0:0:0:0:0:0:0:1', '::7f00:1', '::127.0.0.1', '100::1'],
  ...['fc00::1', 'fd00:ec2::254', 'fd20:ce::254', 'fdff::1', 'fe80::1', 'febf::1', 'fec0::1'],
  ...['ff02::1', 'ff0e::1', '2001::1', '2001:0:4136:e378::1', '2001:1ff::1', '2001:db8::1'],
  ...['2002:7f00:1::', '2002:808:808::1', '3ffe::1', '3fff::1', '4000::1', '5f00::1'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:7F00:0001', '0::ffff:10.0.0.1'],
  ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  ...['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '0064:FF9B:0::192.168.0.1'],
  ...['64:ff9b:1::8.8.8.8', '64:ff9b:1:2::1', '64:ff9b::1:808:808'],
  ...['fe80::1%eth0', '2606:4700:4700::1111%1', '::1%lo'],
  ...['', 'localhost', '127.1', '0177.0.0.1', '0x7f.0.0.1', '2130706433', '08.8.8.8', '[::1]'],
  ...['8.8.8.8 ', '8.8.8.8:443', '1.2.3', ':::', '①.1.1.1'],
]

const refused_urls = [
  ...[
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com:70/',
  ],
  ...['data:text/plain,x', 'javascript:alert(1)', 'ws://example.com/', 'unix:/run/docker.sock'],
  ...['', 'example.com', '//example.com/', 'https://', 'https:///', 'https://a b.com/'],
  ...['https:example.com', 'https:/example.com', 'https:\\\\example.com', 'https:///example.com/'],
  ...[' https://example.com/', 'https://example.com/\n', 'https://exa\tmple.com/'],
  ...['https://example.com\\@127.0.0.1/', 'https://127.0.0.1\\.example.com/'],
  ...['https://user@example.com/', 'https://user:pass@example.com/', 'https://@example.com/'],
  ...['https://:@example.com/', 'https://example.com@127.0.0.1/', 'https://example.com%00.com/'],
  ...['https://example.com/#x', 'https://example.com/#', 'https://example.com#@127.0.0.1/'],
  ...[22, 25, 53, 80, 110, 143, 465, 587, 993, 1433, 2375, 2525, 3306, 5432, 6379, 9200, 11211]
    .concat([27017, 0, 1, 1023])
    .map((port) => `https://example.com:${port}/`),
  ...['https://example.com:65536/', 'https://example.com:-1/'],
  ...['https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://localhost../'],
  ...['https://a.localhost/', 'https://printer.local/', 'https://printer.local./'],
  ...['https://metadata.google.internal/', 'https://metadata.google.internal./'],
  ...['https://host.docker.internal:8443/', 'https://router.lan/', 'https://nas.home.arpa/'],
  ...['https://redis/', 'https://metadata/', 'https://example.com./', 'https://example..com/'],
  ...['https://ｌｏｃａｌｈｏｓｔ/', 'https://loc%61lhost/', 'https://localhost。/'],
  ...['https://127.0.0.1/', 'https://127.0.0.1./', 'https://127.1/', 'https://127.0.1/'],
  ...['https://2130706433/', 'https://017700000001/', 'https://0x7f000001/', 'https://0x7f.1/'],
  ...['https://0177.0.0.1/', 'https://0x7f.0x0.0x0.0x1/', 'https://①②⑦.⓪.⓪.①/', 'https://0/'],
  ...['https://127。0。0。1/', 'https://%31%32%37.0.0.1/', 'https://169.254.169.254/latest/'],
  ...['https://2852039166/', 'https://0xa9fea9fe/', 'https://10.0.0.1:8443/', 'https://256.1.1.1/'],
  ...['https://[::1]/', 'https://[::]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/'],
  ...['https://[fe80::1]/', 'https://[fe80::1%25eth0]/', 'https://[fe80::1%eth0]/'],
  ...['https://[fd00:ec2::254]/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/'],
  ...['https://[0:0:0:0:0:0:0:1]:8443/', 'https://[::1].example.com/', 'https://::1/'],
  `https://example.com/${'x'.repeat(2048)}`,
]

const allowed_urls = [
  ...['https://example.com', 'https://example.com/hook?a=b', 'https://example.com:443/'],
  ...['https://example.com:8443/', 'https://example.com:3000/', 'https://a_b.example.co.uk/'],
  ...['https://example.com/@team/hook', 'https://bücher.example/', 'https://EXAMPLE.com/'],
  ...['https://localhost.example.com/', 'https://internal.example.com/', 'https://notlocal.com/'],
  ...['https://8.8.8.8/', 'https://[2606:4700:4700::1111]/', 'https://1.1.1.1.example.com/'],
]

test('every public address is allowed and every special-purpose one refused', (t) => {
  t.diagnostic(`${public_addresses.length} public, ${refused_addresses.length} refused`)
  for (const ip of public_addresses) assert.equal(isPublicAddress(ip), true, ip)
  for (const ip of refused_addresses) assert.equal(isPublicAddress(ip), false, ip)
})

test('loopback is 127/8 and ::1 in any spelling, and nothing else', () => {
  for (const ip of ['127.0.0.1', '127.8.8.8', '::1', '0:0::1', '::0.0.0.1']) {
    assert.equal(isLoopbackAddress(ip), true, ip)
  }
  for (const ip of ['128.0.0.1', '::', '::2', '::1%lo', '::ffff:127.0.0.1', 'localhost', '']) {
    assert.equal(isLoopbackAddress(ip), false, ip)
  }
})

test('refuses every address that could reach the internal network, with a sentence', (t) => {
  t.diagnostic(`${refused_urls.length} refused, ${allowed_urls.length} allowed`)
  for (const rules of [strict, sandbox]) {
    for (const raw of refused_urls) {
      assert.throws(
        () => requireAllowedUrl(raw, rules),
        (error) =>
          error instanceof EgressRefused && error.reason === 'refused' && /\.$/.test(error.message),
        raw,
      )
    }
  }
})

test('allows ordinary public URLs', () => {
  for (const raw of allowed_urls) assert.equal(requireAllowedUrl(raw, strict).protocol, 'https:')
})

test('plain http is allowed only to this machine and only if configured', () => {
  const own = [
    'http://localhost:3000/a',
    'http://127.0.0.1/',
    'http://[::1]:4000/',
    'http://127.1/',
  ]
  for (const raw of own) {
    assert.throws(() => requireAllowedUrl(raw, strict), EgressRefused, raw)
    assert.equal(requireAllowedUrl(raw, sandbox).protocol, 'http:', raw)
  }
  const others = [
    ...['http://10.0.0.1/', 'http://localhost./', 'http://a.localhost/', 'http://8.8.8.8/'],
    ...['http://127.0.0.1:22/', 'http://127.0.0.1:5432/', 'http://localhost:6379/'],
    ...['http://u@localhost:3000/', 'http://[::ffff:127.0.0.1]/', 'http://0.0.0.0:3000/'],
  ]
  for (const raw of others) assert.throws(() => requireAllowedUrl(raw, sandbox), EgressRefused, raw)
})

test('the port list can be replaced', () => {
  const rules = { ...strict, ports: { privileged_allowed: [443, 444], refused: [8443] } }
  assert.equal(requireAllowedUrl('https://example.com:444/', rules).port, '444')
  assert.throws(() => requireAllowedUrl('https://example.com:8443/', rules), EgressRefused)
})
