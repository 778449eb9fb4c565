/**
 * Measures how many of the recorded Bash calls would run without a question, outside and inside a sandbox. Calls are judged by their text
 * alone, because the recorded projects are not available. What depends on their files counts as harmless for git, and as unknown for file
 * patterns.
 *
 *     node dev/lab/unasked-share.ts [folder with recordings]
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { commandShape } from "../../packages/core/src/agent/tools/shell/command/command-facts.ts"
import { LabUsageError, withSentences } from "./usage.ts"

const DATA = fileURLToPath(new URL("../../../shared/data", import.meta.url))

await withSentences(() => {
  const folder = process.argv[2] ?? DATA
  if (!existsSync(folder)) throw new LabUsageError(`There are no recordings in ${folder}, so nothing was measured.`)
  const lines = [...bashCalls(folder).values()]
  const percent = (count: number) => `${count} of ${lines.length} (${((100 * count) / lines.length).toFixed(1)}%)`
  const unasked = (hasSandbox: boolean) => lines.filter((line) => commandShape(line, { hasSandbox }).isReadOnly).length
  console.log(`in the small language     ${percent(lines.filter((line) => commandShape(line).isExact).length)}`)
  console.log(`unasked without a sandbox ${percent(unasked(false))}`)
  console.log(`unasked in a sandbox      ${percent(unasked(true))}`)
})

/** Command lines by the id of their call, because a fork repeats calls. */
function bashCalls(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const { type, name, id, input } = value as Readonly<Record<string, unknown>>
    const { command } = (input ?? {}) as { readonly command?: unknown }
    if (type === "tool_use" && /^bash$/i.test(String(name)) && typeof command === "string")
      found.set(String(id), command)
    else for (const inner of Object.values(value)) visit(inner)
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.jsonl?$/.test(entry.name)) continue
    for (const line of readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n"))
      if (line.includes('"tool_use"')) visit(parsed(line))
  }
  return found
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined // a torn line, or a file that is not JSON Lines
  }
}
