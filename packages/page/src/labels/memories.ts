/** Describes memories and their changes. Pure. */
import type { Memory } from "@strata/core"
import type { MemoryAuthor, MemoryChange } from "@strata/core/memory"

export const MEMORY_INDEX = "MEMORY.md"

/** `release-process` for `release-process.md`: the name that users type. */
export const fileStem = (file: string): string => file.replace(/\.md$/i, "")

/** The source of a memory, as a sentence without a full stop. */
export function describeSource({ source }: Pick<Memory, "source">): string {
  if (source.confirmed) return "you confirmed it"
  if (source.saidBy === "user") return source.conversation === undefined ? "you wrote it" : "you said it"
  const noted = source.saidBy === "tool" ? "from a tool's output" : "noted by the agent"
  return `${noted}, not confirmed${source.outside === undefined ? "" : ` (in view: ${source.outside})`}`
}

/** The source of a memory, for a column of a table. */
export const describeSourceBriefly = ({ source: { outside: _, ...source } }: Pick<Memory, "source">): string =>
  describeSource({ source })

const AUTHOR_LABELS: Readonly<Record<MemoryAuthor, string>> = {
  person: "you",
  agent: "the agent",
  extraction: "after a query",
  dream: "a dream",
  merge: "a merge",
  outside: "not known",
}

export const authorLabel = (by: MemoryAuthor): string => AUTHOR_LABELS[by]

/** `added a.md; removed b.md`. The index changes together with the memories, so it is named only if it changed alone. */
export function describeEdits({ files, refused = [] }: Pick<MemoryChange, "files" | "refused">): string {
  const memories = files.filter(({ path }) => path !== MEMORY_INDEX)
  const isAlone = memories.length === 0 && refused.length === 0
  const kinds = Map.groupBy(isAlone ? files : memories, ({ before, after }) => {
    if (before === undefined) return "added"
    return after === undefined ? "removed" : "changed"
  })
  const edited = ["added", "changed", "removed"].flatMap((kind) => {
    const paths = kinds.get(kind as "added")?.map(({ path }) => path)
    return paths ? [`${kind} ${paths.join(", ")}`] : []
  })
  return [...edited, ...refused.map(({ file, why }) => `refused ${file}, because ${why}`)].join("; ")
}

/** `2026-03-01 10:00` in UTC. */
export const formatMinute = (time: string): string => time.slice(0, 16).replace("T", " ")
