/** The part of s3rver's API that we use; the package has no types. */
declare module 's3rver' {
  type Options = {
    address: string
    port: number
    silent: boolean
    directory: string
    configureBuckets: readonly { name: string }[]
  }
  type Context = { method: string; query: Record<string, string | undefined>; status: number }

  class S3rver {
    constructor(options: Options)
    middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[]
    store: { getResourcePath(bucket: string, key: undefined, resource: string): string }
    run(): Promise<{ address: string; port: number }>
    close(): Promise<void>
  }
  export = S3rver
}
