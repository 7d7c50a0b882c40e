/** A row that was read without a lock has changed. Nothing was written; run the work again. */
export class ConcurrentUpdate extends Error {}
