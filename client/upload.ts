import type { Route } from '#contract/routes.ts'
import { type Body, type Fields, inPath, type Message, queryOf } from './message.ts'

type File = Blob | Uint8Array | ReadableStream<Uint8Array>

/** A file of evidence, streamed as it is; `content_base64` is for small ones. */
export type Upload = {
  file?: File | undefined
  /** Told while the file goes out, where the platform can stream a request: not in browsers. */
  onProgress?: ((progress: Progress) => void) | undefined
}

/** `bytes_total` is null for a stream, whose length nobody knows. */
export type Progress = { bytes_sent: number; bytes_total: number | null }

type Uploading = Fields & Upload & { file: File }

export const isUpload = (input: Fields): input is Uploading => input['file'] !== undefined

/** The file is the body; what goes with it stands in the query. Its type is judged by content. */
export function uploadOf(route: Route, input: Uploading): Message {
  const { file, onProgress, ...fields } = input
  const { path, rest } = inPath(route.path, fields)
  const named = file instanceof Blob && 'name' in file ? { file_name: file.name } : {}
  const target = path + queryOf({ ...named, ...rest })
  const content_type = (file instanceof Blob && file.type) || 'application/octet-stream'
  const makeBody = () => bodyOf(file, onProgress)
  return { method: route.method, target, makeBody, content_type, isOnce: isStream(file) }
}

const isStream = (file: unknown): boolean => file instanceof ReadableStream

function bodyOf(file: File, onProgress: Upload['onProgress']): Body {
  const canStream = !('document' in globalThis)
  if (onProgress === undefined || !canStream) return file as Body
  const blob = file instanceof Uint8Array ? new Blob([file as Uint8Array<ArrayBuffer>]) : file
  const bytes_total = blob instanceof Blob ? blob.size : null
  const source = blob instanceof Blob ? blob.stream() : blob
  return source.pipeThrough(counting((bytes_sent) => onProgress({ bytes_sent, bytes_total })))
}

function counting(update: (bytes_sent: number) => void) {
  let bytes_sent = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes_sent += chunk.byteLength
      controller.enqueue(chunk)
      update(bytes_sent)
    },
  })
}
