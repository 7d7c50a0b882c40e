import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDevice } from './device.ts'

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)'
const ANDROID = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko)'

test('a browser is named with its system', () => {
  for (const [user_agent, name] of [
    [`${MAC} Chrome/130.0.0.0 Safari/537.36`, 'Chrome on macOS'],
    [`${MAC} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`, 'Edge on macOS'],
    [`${MAC} Chrome/130.0.0.0 Safari/537.36 OPR/114.0.0.0`, 'Opera on macOS'],
    [`${ANDROID} Chrome/130.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605', 'Safari on macOS'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile Safari/604',
      'Safari on iPhone',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox on Linux'],
    ['Mozilla/5.0 (Windows NT 10.0; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox on Windows'],
  ] as const) {
    assert.equal(describeDevice(user_agent), name)
  }
})

test('another program is named by itself, and none is unknown', () => {
  assert.equal(describeDevice('curl/8.5.0'), 'curl')
  assert.equal(describeDevice('python-requests/2.32'), 'python-requests')
  assert.equal(describeDevice('node'), 'node')
  assert.equal(describeDevice(''), 'Unknown device')
  assert.equal(describeDevice('x'.repeat(8_000)), 'x'.repeat(40))
})
