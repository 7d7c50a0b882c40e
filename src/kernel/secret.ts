/**
 * A value that must never be printed. Every ordinary way of turning a thing into text (template
 * strings, JSON, the console) shows dots, so a secret can only reach a log by being opened there.
 */
export class Secret<Value = string> {
  readonly #value: Value

  constructor(value: Value) {
    this.#value = value
  }

  open(): Value {
    return this.#value
  }

  toString(): string {
    return '••••'
  }

  toJSON(): string {
    return '••••'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '••••'
  }
}
