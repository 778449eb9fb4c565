/** Counts the lines of an import by kind, understood or not, and collects remarks for the person. */
import type { JsonLine } from "./foreign-json.ts"
import type { ImportReport } from "./importer.ts"
import { damageNotes, type JsonDocument } from "./json-document.ts"

const MAX_KIND = 80 // characters; a kind is another program's text

export class Tally {
  #lines = 0
  readonly #understood = new Map<string, number>()
  readonly #notUnderstood = new Map<string, number>()
  readonly #reasons = new Map<string, string>()
  readonly #remarks = new Map<string, number>()

  /** A line whose content is in the messages. */
  understood(kind: string): void {
    this.#count(this.#understood, kind)
  }

  /** A line of a known kind whose content is not imported, or not all of it. */
  leftOut(kind: string, why: string): void {
    this.understood(kind)
    this.#reasons.set(named(kind), why)
  }

  /** The lines, without those that repeat an earlier one to the byte: they have ids or times, so the file was damaged. */
  *once<Line extends JsonLine>(lines: Iterable<Line>): Generator<Line> {
    const seen = new Set<string>()
    for (const line of lines) {
      if (seen.has(line.text)) this.leftOut("line again", "an earlier line is the same")
      else yield line
      seen.add(line.text)
    }
  }

  notUnderstood(kind: string): void {
    this.#count(this.#notUnderstood, kind)
  }

  notJson(line: JsonLine): void {
    this.notUnderstood("not JSON")
    if (line.isLast) {
      this.remark("the last line is incomplete because the program was interrupted; everything before it is imported")
    }
  }

  /** A link leads nowhere. */
  parentMissing(): void {
    this.remark("the parent of an entry is not in this file; the entry is placed after the one before it")
  }

  /** What is missing from a document that had to be read piece by piece. */
  document(document: JsonDocument | undefined): void {
    if (!document) return
    for (let at = 0; at < document.damaged; at++) this.notUnderstood("not JSON")
    for (const note of damageNotes(document)) this.remark(note)
  }

  /** Something a person should know. Reported once, with a count if it happened more often. */
  remark(sentence: string): void {
    this.#remarks.set(sentence, (this.#remarks.get(sentence) ?? 0) + 1)
  }

  report(): ImportReport {
    const leftOut = [...this.#reasons].map(([kind, why]) => `${kind} (${this.#understood.get(kind)}): ${why}`)
    const remarks = [...this.#remarks].map(([sentence, times]) =>
      times > 1 ? `${sentence} (${times} times)` : sentence,
    )
    return {
      lines: this.#lines,
      understood: Object.fromEntries(this.#understood),
      notUnderstood: Object.fromEntries(this.#notUnderstood),
      notes: [...leftOut, ...remarks],
    }
  }

  #count(counts: Map<string, number>, kind: string): void {
    this.#lines++
    counts.set(named(kind), (counts.get(named(kind)) ?? 0) + 1)
  }
}

const named = (kind: string) => kind.slice(0, MAX_KIND)
