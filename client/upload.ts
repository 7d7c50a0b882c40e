import type { Route } from '#contract/routes.ts'
import { type Body, buildQuery, type Fields, fillPath, type HttpRequest } from './request.ts'

type File = Blob | Uint8Array | ReadableStream<Uint8Array>

/** An evidence file, streamed as the request body. For small files, `content_base64` works too. */
export type Upload = {
  file?: File | undefined
  /** Called during the upload. Not called in browsers, which cannot stream request bodies. */
  onProgress?: ((progress: Progress) => void) | undefined
}

/** `bytes_total` is null for streams. */
export type Progress = { bytes_sent: number; bytes_total: number | null }

type UploadInput = Fields & Upload & { file: File }

export const isUpload = (input: Fields): input is UploadInput => input['file'] !== undefined

/** Sends the file as the body and all other fields in the query. */
export function buildUpload(route: Route, input: UploadInput): HttpRequest {
  const { file, onProgress, ...fields } = input
  const { path, rest } = fillPath(route.path, fields)
  const named = file instanceof Blob && 'name' in file ? { file_name: file.name } : {}
  const target = path + buildQuery({ ...named, ...rest })
  const content_type = (file instanceof Blob && file.type) || 'application/octet-stream'
  const createBody = (onSent?: () => void) => createFileBody(file, { onSent, onProgress })
  return {
    method: route.method,
    target,
    createBody,
    content_type,
    isSingleUse: isStream(file),
    isUnobserved: !canStream(),
  }
}

const isStream = (file: unknown): boolean => file instanceof ReadableStream

/** Browsers cannot stream request bodies over HTTP/1.1. */
const canStream = (): boolean => !('document' in globalThis)

type Observers = { onSent: (() => void) | undefined; onProgress: Upload['onProgress'] }

function createFileBody(file: File, { onSent, onProgress }: Observers): Body {
  if (!canStream()) return file as Body
  const blob = file instanceof Uint8Array ? new Blob([file as Uint8Array<ArrayBuffer>]) : file
  const bytes_total = blob instanceof Blob ? blob.size : null
  const observe = (bytes_sent: number) => {
    onSent?.()
    onProgress?.({ bytes_sent, bytes_total })
  }
  return blob instanceof Blob ? readParts(blob, observe) : blob.pipeThrough(countBytes(observe))
}

type Observe = (bytes_sent: number) => void

const PART_BYTES = 65_536

/** Blob.stream() gives a blob in memory as one chunk, which says nothing about what was sent. */
function readParts(blob: Blob, observe: Observe): ReadableStream<Uint8Array> {
  let at = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (at >= blob.size) return controller.close()
    const end = Math.min(at + PART_BYTES, blob.size)
    const part = await blob.slice(at, end).arrayBuffer()
    at = end
    controller.enqueue(new Uint8Array(part))
    observe(at)
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

function countBytes(observe: Observe) {
  let bytes_sent = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes_sent += chunk.byteLength
      controller.enqueue(chunk)
      observe(bytes_sent)
    },
  })
}
