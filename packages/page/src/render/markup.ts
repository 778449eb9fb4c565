/**
 * HTML that is safe by construction: everything put into a template is escaped, unless a template made it. Text from transcripts is
 * also cut, and what cannot be seen in it is made visible.
 */
import { printable, visible } from "@strata/core/base"

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

export type Piece = Markup | string | number | readonly Piece[] | undefined

const MAX = 300 // characters of one text: names, titles, reasons
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** A text of any origin, for the content of an element or a quoted attribute. */
export function escaped(text: string): string {
  const cut = text.length > MAX ? `${text.slice(0, MAX)}…` : text
  return printable(cut).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!)
}

/** A text with its lines, whole. What cannot be seen in it is made visible. */
export const wholeText = (text: string): Markup =>
  Markup.of(visible(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]!))

/** `undefined` adds nothing, and a list adds its pieces one after the other. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return Markup.of(strings.map((fixed, i) => fixed + (i < pieces.length ? sourceOf(pieces[i]!) : "")).join(""))
}

function sourceOf(piece: Piece): string {
  if (piece === undefined) return ""
  if (piece instanceof Markup) return piece.toString()
  if (typeof piece === "number") return String(piece)
  return typeof piece === "string" ? escaped(piece) : piece.map(sourceOf).join("")
}

/** The places of a path: `1 2L3 4`. Numbers only, so that it may be as long as it has to be. */
export const places = (points: readonly (readonly [x: number, y: number])[]): Markup =>
  Markup.of(points.map(([x, y]) => `${x} ${y}`).join("L"))
