/** Counts content that a format cannot represent, so that an export can report it. */
export class OmittedContent {
  readonly #counts = new Map<string, number>()

  add(kind: string, count = 1): void {
    if (count > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count)
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
