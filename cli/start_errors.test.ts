import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'
import { explainError } from './start_errors.ts'

const settings = readSettings({ FLORIN_DATA_DIR: '/srv/florin', FLORIN_HOST: 'cards.invalid' })

const sentenceOf = (fields: object): string => {
  const explained = explainError(Object.assign(new Error('failed'), fields), settings)
  assert(explained instanceof ConfigError)
  return explained.message
}

test('an address that a node cannot listen on is a sentence that names its setting', () => {
  const listen = { code: 'EADDRNOTAVAIL', syscall: 'listen', address: '192.0.2.1' }
  assert.match(sentenceOf({ ...listen, port: 8080 }), /Correct FLORIN_HOST and FLORIN_PORT\.$/)
  assert.match(sentenceOf({ ...listen, port: 8583 }), /FLORIN_ISO_HOST and FLORIN_ISO_PORT\.$/)
  const name = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'cards.invalid' }
  assert.match(sentenceOf(name), /^FLORIN_HOST is "cards\.invalid"/)
})

test('a data directory that cannot be written to is a sentence that names FLORIN_DATA_DIR', () => {
  for (const code of ['EACCES', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST']) {
    for (const path of ['/srv/florin', '/srv/florin/keys.json']) {
      assert.match(sentenceOf({ code, path }), new RegExp(`${code}.*Correct FLORIN_DATA_DIR`))
    }
  }
})

test('an error that no setting corrects stays as it is', () => {
  for (const fields of [{}, { code: 'EACCES', path: '/srv/florin_other' }, { code: 'ENOTFOUND' }]) {
    const cause = Object.assign(new Error('failed'), fields)
    assert.equal(explainError(cause, settings), cause)
  }
})
