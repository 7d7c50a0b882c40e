/**
 * A value that must never be printed. Template strings, JSON and the console show dots, so a secret
 * can reach a log only if code calls `open()` there.
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
