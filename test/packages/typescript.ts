/** The compiler's API: version 7 has none. */
export { default as ts } from 'typescript'
