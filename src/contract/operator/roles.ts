/** From least to most: each role may also do what the roles before it may. */
export const operator_roles = ['viewer', 'support', 'risk', 'admin'] as const
export type OperatorRole = (typeof operator_roles)[number]
