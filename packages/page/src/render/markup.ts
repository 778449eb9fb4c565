/**
 * HTML that is safe by construction: everything put into a template is escaped, unless a template made it. Text from transcripts is
 * also cut, and what cannot be seen in it is made visible.
 */
import { escapeForTerminal, escapeToLine } from "@strata/core/base"

/** Source that may go into a page as it is. Only `html` makes it. */
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

const MAX = 300 // characters of one text: names, titles, reasons
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** A text of any origin, for the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  const cut = text.length > MAX ? `${text.slice(0, MAX)}…` : text
  return escapeToLine(cut).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!)
}

/** A text with its lines, whole. What cannot be seen in it is made visible. */
export const fullText = (text: string): Markup =>
  Markup.of(escapeForTerminal(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!))

/** `undefined` adds nothing, and a list adds its pieces one after the other. */
export function html(strings: TemplateStringsArray, ...contents: readonly MarkupContent[]): Markup {
  return Markup.of(strings.map((fixed, i) => fixed + (i < contents.length ? toSource(contents[i]!) : "")).join(""))
}

function toSource(piece: MarkupContent): string {
  if (piece === undefined) return ""
  if (piece instanceof Markup) return piece.toString()
  if (typeof piece === "number") return String(piece)
  return typeof piece === "string" ? escapeHtml(piece) : piece.map(toSource).join("")
}

/** The places of a path: `1 2L3 4`. Numbers only, so that it may be as long as it has to be. */
export const pathPoints = (points: readonly (readonly [x: number, y: number])[]): Markup =>
  Markup.of(points.map(([x, y]) => `${x} ${y}`).join("L"))
