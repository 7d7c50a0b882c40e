import assert from 'node:assert/strict'

type Cookie = { name: string; value: string; path: string }

export type LoadedPage = { url: string; status: number; headers: Headers; text: string }

/** Follows forms, redirects and cookies; stops at a redirect to another origin. */
export class Browser {
  readonly #home: string
  #cookies: Cookie[] = []

  constructor(home: string) {
    this.#home = home
  }

  /** Another browser with these cookies, each passed through `change`. */
  copy(change: (name: string, value: string) => string = (_name, value) => value): Browser {
    const other = new Browser(this.#home)
    other.#cookies = this.#cookies
      .map((cookie) => ({ ...cookie, value: change(cookie.name, cookie.value) }))
      .filter(({ value }) => value !== '')
    return other
  }

  async open(url: string, form?: URLSearchParams): Promise<LoadedPage> {
    let next = url
    let body = form
    for (let hops = 0; hops < 10; hops += 1) {
      const response = await this.#send(next, body)
      const location = response.headers.get('location')
      const { status, headers } = response
      if (location === null) return { url: next, status, headers, text: await response.text() }
      next = new URL(location, next).toString()
      if (!next.startsWith(`${this.#home}/`)) return { url: next, status, headers, text: '' }
      body = undefined
    }
    throw new Error('too many redirects')
  }

  /** Submits the page's form with its hidden fields and `fields`. */
  submit(page: LoadedPage, step: string, fields: Fields = {}): Promise<LoadedPage> {
    return this.open(page.url, formOf(page, step, fields))
  }

  /** Like submit, but returns the redirect's URL instead of following it. */
  async post(page: LoadedPage, step: string, fields: Fields = {}): Promise<string> {
    const response = await this.submitOnly(page, step, fields)
    return new URL(response.headers.get('location') ?? '', page.url).toString()
  }

  /** The response to the form itself. */
  submitOnly(page: LoadedPage, step: string, fields: Fields = {}): Promise<Response> {
    return this.#send(page.url, formOf(page, step, fields))
  }

  async #send(url: string, body: URLSearchParams | undefined): Promise<Response> {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: this.#cookiesFor(url),
        ...(body !== undefined && { origin: new URL(this.#home).origin }),
      },
      ...(body !== undefined && { body }),
    })
    this.#keep(response.headers.getSetCookie())
    return response
  }

  #cookiesFor(url: string): string {
    const { pathname } = new URL(url)
    return this.#cookies
      .filter(({ path }) => path === '/' || pathname === path || pathname.startsWith(`${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  #keep(set: readonly string[]): void {
    for (const line of set) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
      const at = pair.indexOf('=')
      const name = pair.slice(0, at)
      const value = pair.slice(at + 1)
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
      assert(
        attributes.some((each) => /^httponly$/i.test(each)),
        'cookies are HttpOnly',
      )
      this.#cookies = this.#cookies.filter((each) => each.name !== name || each.path !== path)
      if (value !== '') this.#cookies.push({ name, value, path })
    }
  }
}

type Fields = Record<string, string | string[]>

function formOf(page: LoadedPage, step: string, fields: Fields): URLSearchParams {
  const form = hiddenFields(page.text)
  form.set('step', step)
  for (const [name, value] of Object.entries(fields)) {
    form.delete(name)
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, each)
  }
  return form
}

function hiddenFields(text: string): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [tag] of text.matchAll(/<input type="hidden"[^>]*>/g)) {
    fields.append(/name="([^"]*)"/.exec(tag)?.[1] ?? '', /value="([^"]*)"/.exec(tag)?.[1] ?? '')
  }
  return fields
}

/** The checkboxes of a page: value → initially checked. */
export function boxesIn(text: string, name: string): Record<string, boolean> {
  const boxes: Record<string, boolean> = {}
  for (const [tag] of text.matchAll(/<input type="checkbox"[^>]*>/g)) {
    if (!tag.includes(`name="${name}"`)) continue
    boxes[/value="([^"]*)"/.exec(tag)?.[1] ?? ''] = / checked/.test(tag)
  }
  return boxes
}
