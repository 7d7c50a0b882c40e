// The property of post.property.test.ts, over many more histories.
process.env['FLORIN_TEST_LENGTH'] = '5'
await import('./post.property.test.ts')

export {}
