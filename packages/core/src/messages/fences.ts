/** Code fences in markdown: which one is open after a line. Code that cuts a text closes what the cut left open. */

/** A fence may be indented or begin an entry of a list. What follows backticks on the line has none, or it is code within the line. */
const FENCE = /^\s*(?:[-*+][ \t]+)?(`{3,}(?!.*`)|~{3,})/

/** The fence that is open after a line, if any. Only a line with nothing else on it closes one. */
export function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = FENCE.exec(line)?.[1]
  if (mark === undefined) return open
  if (open === undefined) return mark
  const closes = mark.startsWith(open) && line.trim() === mark
  return closes ? undefined : open
}

/** The fence that a text leaves open, if any. */
export const fenceLeftOpen = (text: string): string | undefined =>
  text.split("\n").reduce<string | undefined>((open, line) => fenceAfter(line, open), undefined)

/** The text, with the fence closed that it leaves open. */
export function withFencesClosed(text: string): string {
  const open = fenceLeftOpen(text)
  return open === undefined ? text : `${text}${text.endsWith("\n") ? "" : "\n"}${open}`
}
