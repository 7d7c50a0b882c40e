import { Fragment } from 'react'

/** `withdrawal.broadcasted`: a line may break at its joints, and only there while there is room. */
export function DottedName({ of: name }: { of: string }) {
  const parts = name.split(/(?<=[._])/)
  return (
    <span className="font-medium wrap-anywhere">
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a name do not move.
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  )
}
