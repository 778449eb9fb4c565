/** Aligns cells in columns, each as wide as its widest cell. */
export function inColumns(headings: readonly string[], cells: readonly (readonly string[])[]): readonly string[] {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()
  return [line(headings), line(widths.map((width) => "-".repeat(width))), ...cells.map(line)]
}
