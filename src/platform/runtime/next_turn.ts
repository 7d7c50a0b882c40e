/** Lets everything else that waits for the event loop have its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
