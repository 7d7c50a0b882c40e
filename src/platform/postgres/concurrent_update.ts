/**
 * What was read without a lock is not what it was any more: nothing of the work was done, and it
 * has to be done again.
 */
export class ConcurrentUpdate extends Error {}
