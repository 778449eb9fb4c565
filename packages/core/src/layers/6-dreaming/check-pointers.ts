/** No link leads nowhere: links between memories, and the lines of the index. */
import { linkedFile, loadedIndex, updateIndex } from "../../memory/index-file.ts"
import { isCurrent, isRule, type Memory } from "../../memory/memory.ts"
import { type CheckedMemories, compareAge } from "./checked-memories.ts"

/** A link to a markdown file beside the one it is in. Other paths belong to the project. */
const LINK = /\[([^\]\n]*)\]\((?:\.\/)?([^()\s/#:]+\.md)(#[^()\s]*)?\)/g

/** Files of the project: a link may mean one of them. */
export type ProjectHas = (path: string) => boolean

export function checkLinks(memories: CheckedMemories, projectHas: ProjectHas): void {
  for (const { memory } of [...memories.items.values()]) {
    const body = memory.body.replace(LINK, (whole, label: string, target: string, part = "") => {
      const found = memories.items.get(target)?.memory
      if (!found) return projectHas(target) ? whole : label
      const current = isCurrent(memory) ? currentOf(found, memories) : found
      return current.file === target || current.file === memory.file ? whole : `[${label}](${current.file}${part})`
    })
    if (body !== memory.body)
      memories.set(memory.file, { ...memory, body }, `${memory.file}: a link led to no current memory.`)
  }
}

/** Follows the marks of supersession. */
function currentOf(memory: Memory, memories: CheckedMemories): Memory {
  const seen = new Set<string>()
  let at = memory
  while (at.supersededBy !== undefined && !seen.has(at.file)) {
    seen.add(at.file)
    const next = memories.items.get(at.supersededBy)?.memory
    if (!next) return at
    at = next
  }
  return at
}

export interface IndexCheck {
  /** As the dream left it. */
  readonly text: string | undefined
  /** The index before the dream. */
  readonly before: string | undefined
  readonly memories: CheckedMemories
  readonly projectHas: ProjectHas
}

/** The index in step with the memories. If it is too long, rules and what was confirmed last come first: the rest is cut when it is loaded. */
export function checkedIndex({ text, before, memories, projectHas }: IndexCheck): string {
  const all = [...memories.items.values()].map(({ memory }) => memory)
  const gone = new Set([...memories.before.keys()].filter((file) => !memories.items.has(file)))
  const had = new Set((before ?? "").split("\n"))
  const isDead = (line: string) => {
    const file = linkedFile(line)
    if (!had.has(line) && (file === undefined ? line.trim() !== "" : !memories.items.has(file))) return true // a dream writes no lines of its own
    return file !== undefined && !memories.items.has(file) && !projectHas(file)
  }
  const alive = (text ?? "")
    .split("\n")
    .filter((line) => !isDead(line))
    .join("\n")
  const renewed = new Set(
    all.filter((memory) => isRenewed(memories.before.get(memory.file), memory)).map(({ file }) => file),
  )
  const updated = updateIndex({ text: alive === "" ? undefined : alive, memories: all, renewed, gone })
  return loadedIndex(updated).isCut ? ordered(updated, memories) : updated
}

const isRenewed = (before: Memory | undefined, after: Memory): boolean =>
  before !== undefined &&
  (before.name !== after.name || before.description !== after.description || before.failed !== after.failed)

function ordered(index: string, { items }: CheckedMemories): string {
  const lines = index.split("\n")
  const memoryOf = (line: string) => items.get(linkedFile(line) ?? "")?.memory
  const rank = (memory: Memory) => (isRule(memory) ? 0 : 1)
  const listed = lines.filter((line) => memoryOf(line))
  const best = [...listed].sort((one, other) => {
    const [a, b] = [memoryOf(one)!, memoryOf(other)!]
    return rank(a) - rank(b) || compareAge(b, a)
  })
  const first = lines.findIndex((line) => memoryOf(line))
  const rest = lines.filter((line) => !memoryOf(line))
  return [...rest.slice(0, first), ...best, ...rest.slice(first)].join("\n")
}
