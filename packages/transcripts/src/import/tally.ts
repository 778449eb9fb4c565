/** Counts the lines of an import by kind, understood or not, and collects remarks for the user. */

import type { ImportReport } from "./importer.ts"
import type { JsonLine } from "./json-access.ts"
import { damageNotes, type JsonDocument } from "./json-document.ts"

const MAX_KIND = 80 // characters; kinds are text from another program

export class Tally {
  #lines = 0
  readonly #understood = new Map<string, number>()
  readonly #notUnderstood = new Map<string, number>()
  readonly #reasons = new Map<string, string>()
  readonly #remarks = new Map<string, number>()

  /** Counts a line whose content is in the messages. */
  understood(kind: string): void {
    this.#count(this.#understood, kind)
  }

  /** Counts a line of a known kind whose content is not imported, or only partly. */
  omitted(kind: string, why: string): void {
    this.understood(kind)
    this.#reasons.set(named(kind), why)
  }

  /** Skips lines that repeat an earlier one exactly: lines have ids or times, so the file was damaged. */
  *withoutRepeats<Line extends JsonLine>(lines: Iterable<Line>): Generator<Line> {
    const seen = new Set<string>()
    for (const line of lines) {
      if (seen.has(line.text)) this.omitted("line again", "an earlier line is the same")
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

  /** Reports that the parent of an entry is missing. */
  parentMissing(): void {
    this.remark("the parent of an entry is not in this file; the entry is placed after the one before it")
  }

  /** Reports the damage of a document that had to be parsed one value at a time. */
  document(document: JsonDocument | undefined): void {
    if (!document) return
    for (let at = 0; at < document.damaged; at++) this.notUnderstood("not JSON")
    for (const note of damageNotes(document)) this.remark(note)
  }

  /** Reports something the user should know, once, with a count if it happened more often. */
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
