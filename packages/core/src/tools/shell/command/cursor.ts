/** A place in a text that is read piece by piece. Forms must be sticky (`/…/y`). */
export class Cursor {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  /** Steps over what the form matches here. `undefined`: it does not match. */
  take(form: RegExp): string | undefined {
    const found = this.look(form)
    if (found !== undefined) this.at += found.length
    return found
  }

  look(form: RegExp): string | undefined {
    form.lastIndex = this.at
    return form.exec(this.text)?.[0]
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }
}
