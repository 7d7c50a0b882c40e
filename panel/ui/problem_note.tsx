import { CircleAlert } from 'lucide-react'
import type { FlorinError } from '#client/client.ts'

/** The error of a form: the message of the service and the request ID for support. */
export function ProblemNote({ problem }: { problem: FlorinError | null }) {
  if (problem === null) return null
  return (
    <div
      role="alert"
      className="mt-4 flex gap-2.5 rounded-lg bg-bad-ground px-3 py-2.5 text-bad [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0"
    >
      <CircleAlert aria-hidden />
      <div className="min-w-0">
        <p>{problem.message}</p>
        {problem.request_id !== null && (
          <p className="mt-0.5 font-mono text-xs break-all">{problem.request_id}</p>
        )}
      </div>
    </div>
  )
}

/** The message for one field, if the error has details about it. */
export function fieldError(problem: FlorinError | null, field: string): string | undefined {
  const found = problem?.details.find((detail) => detail.field === field)?.message
  return found === undefined ? undefined : `${found.charAt(0).toUpperCase()}${found.slice(1)}.`
}
