// The property of watch_deposits.property.test.ts, over many more histories.
process.env['FLORIN_TEST_LENGTH'] = '8'
await import('./watch_deposits.property.test.ts')

export {}
