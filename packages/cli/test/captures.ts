/** Captures of screens: texts stored in files, and rules for all of them. */
import { expect } from "vitest"
import { widthOf } from "../src/display/text.ts"
import type { ScreenSize } from "./emulated-screen.ts"

export const SIZES: readonly ScreenSize[] = [
  { columns: 60, rows: 15 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
]

export const sizeName = ({ columns, rows }: ScreenSize): string => `${columns}x${rows}`

/** Compares rows with a stored file. Each row is stored with the edge of the screen. */
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

/** Every text is complete, or truncated with an ellipsis. */
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

const SHORTEST = 5 // minimum characters of a truncated text; fewer would match anywhere

/** Removes spaces and frames, so that line breaks are not compared. */
const squeezed = (text: string): string => text.replace(/[\s│]+/g, "")
