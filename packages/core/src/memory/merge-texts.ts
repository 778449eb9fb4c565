/** Merges two changes of one text, line by line. Changes that touch each other are a conflict. */

export type Merge = { readonly state: "merged"; readonly text: string } | { readonly state: "conflict" }

interface Hunk {
  /** Lines of the base that it replaces: from `start`, up to but without `end`. */
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

export async function mergeTexts(texts: { base: string; ours: string; theirs: string }): Promise<Merge> {
  const { base, ours, theirs } = texts
  if (ours === theirs || theirs === base) return { state: "merged", text: ours }
  if (ours === base) return { state: "merged", text: theirs }
  const lines = linesOf(base)
  const [first, second] = [await hunksOf(lines, linesOf(ours)), await hunksOf(lines, linesOf(theirs))]
  const isShared = (hunk: Hunk) => second.some((other) => JSON.stringify(other) === JSON.stringify(hunk))
  const own = first.filter((hunk) => !isShared(hunk))
  if (own.some((a) => second.some((b) => a.start <= b.end && b.start <= a.end))) return { state: "conflict" }
  const result = [...lines]
  for (const { start, end, lines: fresh } of [...own, ...second].sort((a, b) => b.start - a.start))
    result.splice(start, end - start, ...fresh)
  return { state: "merged", text: result.join("") }
}

/** Each line with its end. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

async function hunksOf(base: readonly string[], changed: readonly string[]): Promise<readonly Hunk[]> {
  const { diffArrays } = await import("diff")
  const hunks: Hunk[] = []
  let at = 0
  let open: { start: number; end: number; lines: string[] } | undefined
  for (const { added, removed, value } of diffArrays([...base], [...changed])) {
    if (!added && !removed) {
      open = undefined
      at += value.length
      continue
    }
    if (!open) {
      open = { start: at, end: at, lines: [] }
      hunks.push(open)
    }
    if (added) open.lines.push(...value)
    else {
      at += value.length
      open.end = at
    }
  }
  return hunks
}
