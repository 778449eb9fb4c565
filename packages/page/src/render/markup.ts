/**
 * HTML that is safe by construction: every value in a template is escaped, unless a template produced it. Text from transcripts is also
 * truncated, and control characters become visible.
 */
import { escapeForTerminal, escapeToLine } from "@strata/core/base"

/** Escaped HTML source. Created only by `html`. */
export class Markup {
  readonly #source: string

  private constructor(source: string) {
    this.#source = source
  }

  /** @internal */
  static of(source: string): Markup {
    return new Markup(source)
  }

  toString(): string {
    return this.#source
  }
}

export type MarkupContent = Markup | string | number | readonly MarkupContent[] | undefined

const MAX = 300 // characters of one text, such as a name, title or reason
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Cuts a text after at most `max` characters, never inside one. */
export const shorten = (text: string, max: number): string =>
  text.length <= max
    ? text
    : `${text
        .slice(0, max)
        .replace(/[\uD800-\uDBFF]$/, "")
        .trimEnd()}…`

/** Escapes untrusted text for the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return escapeToLine(shorten(text, MAX)).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!)
}

/** A complete text with its line breaks. Control characters become visible. */
export const fullText = (text: string): Markup =>
  Markup.of(escapeForTerminal(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!))

/** Template tag for HTML. `undefined` adds nothing, and a list adds its elements in order. */
export function html(strings: TemplateStringsArray, ...contents: readonly MarkupContent[]): Markup {
  return Markup.of(strings.map((fixed, i) => fixed + (i < contents.length ? toSource(contents[i]!) : "")).join(""))
}

function toSource(piece: MarkupContent): string {
  if (piece === undefined) return ""
  if (piece instanceof Markup) return piece.toString()
  if (typeof piece === "number") return String(piece)
  return typeof piece === "string" ? escapeHtml(piece) : piece.map(toSource).join("")
}

/** Coordinates of an SVG path: `1 2L3 4`. Contains only numbers, so its length is not limited. */
export const pathPoints = (points: readonly (readonly [x: number, y: number])[]): Markup =>
  Markup.of(points.map(([x, y]) => `${x} ${y}`).join("L"))
