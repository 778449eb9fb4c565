/** Captures of screens: texts kept in files, and the rules that every one of them follows. */
import { expect } from "vitest"
import { widthOf } from "../src/display/text.ts"
import type { ScreenSize } from "./emulated-screen.ts"

export const SIZES: readonly ScreenSize[] = [
  { columns: 60, rows: 15 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
]

export const sizeName = ({ columns, rows }: ScreenSize): string => `${columns}x${rows}`

/** Keeps them in a file, each row with the edge of the screen. */
export async function expectKept(
  name: string,
  captures: readonly (readonly [string, readonly string[], ScreenSize])[],
) {
  const texts = captures.map(([title, rows, { columns }]) => {
    const framed = rows.map((row) => `${row}${" ".repeat(Math.max(0, columns - widthOf(row)))}|`)
    return [`${title}`, "-".repeat(columns + 1), ...framed].join("\n")
  })
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot(`captures/${name}.txt`)
}

/** No row is wider than the screen, and a page that fills the screen has no more rows than it. */
export function expectFits(rows: readonly string[], { columns, rows: max }: ScreenSize, isWholeScreen = true): void {
  for (const row of rows) expect(widthOf(row), row).toBeLessThanOrEqual(columns)
  if (isWholeScreen) expect(rows.length).toBeLessThanOrEqual(max)
}

/** Every text is there whole, or its beginning (or its end) followed (or preceded) by a mark. */
export function expectWholeOrMarked(screen: readonly string[], texts: readonly string[]): void {
  const shown = squeezed(screen.join(" "))
  for (const text of texts.map(squeezed)) {
    const isWhole = shown.includes(text)
    const isCut = Array.from({ length: text.length }, (_, end) => text.slice(0, end)).some(
      (beginning) => beginning.length >= SHORTEST && shown.includes(`${beginning}…`),
    )
    expect(isWhole || isCut, `neither whole nor marked as cut: ${text}`).toBe(true)
  }
}

const SHORTEST = 5 // characters of a beginning; fewer would be found anywhere

/** Without spaces and frames: where lines break is not what is compared. */
const squeezed = (text: string): string => text.replace(/[\s│]+/g, "")
