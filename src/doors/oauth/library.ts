/**
 * The OAuth library says one thing on Node 20, as soon as it is read: that it wants Node 22. What
 * we use of it is tested on both, so that line, and no other, is kept from the operator's screen.
 */
const UNWANTED = 'oidc-provider WARNING: Unsupported runtime.'

const { warn } = console
console.warn = (...words: unknown[]) => {
  if (!String(words[0]).includes(UNWANTED)) warn(...words)
}
const { default: Provider, errors, interactionPolicy } = await import('oidc-provider')
console.warn = warn

export { errors, interactionPolicy, Provider }
