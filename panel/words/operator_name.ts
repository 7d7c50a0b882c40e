/** The token in the settings has the name of its setting, which means nothing to a reader. */
export const operatorName = (name: string): string =>
  name === 'FLORIN_OPERATOR_TOKEN' ? 'Setup token' : name
