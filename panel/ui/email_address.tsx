/** Wraps before the @ first, and inside a part only where the part itself is too long. */
export function EmailAddress({ of: email }: { of: string }) {
  const at = email.lastIndexOf('@')
  return (
    <span className="wrap-anywhere">
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </span>
  )
}
