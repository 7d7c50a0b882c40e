/** Lets the event loop turn once. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
